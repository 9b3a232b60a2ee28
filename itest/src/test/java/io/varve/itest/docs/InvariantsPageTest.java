package io.varve.itest.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** {@code docs/INVARIANTS.md} names, for each invariant, code that keeps it and tests that look for its breach; both exist and say its number. */
class InvariantsPageTest {

    private static final int INVARIANTS = 18;
    private static final Pattern ROW = Pattern.compile("\\| (I-\\d+) \\| (.+) \\| (.+) \\| (.+) \\|");

    @Test
    void everyInvariantIsKeptSomewhereAndTestedSomewhere() throws IOException {
        NamedClasses main = new NamedClasses("main");
        NamedClasses test = new NamedClasses("test");
        List<String> wrong = new ArrayList<>();
        List<String> rows = new ArrayList<>();
        for (String line : Files.readAllLines(NamedClasses.ROOT.resolve("docs/INVARIANTS.md"))) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                rows.add(row.group(1));
                main.check(row.group(1), "kept by", row.group(3), wrong);
                test.check(row.group(1), "tested by", row.group(4), wrong);
            }
        }
        List<String> all = new ArrayList<>();
        for (int number = 1; number <= INVARIANTS; number++) {
            all.add("I-" + number);
        }
        assertThat(rows).containsExactlyElementsOf(all);
        assertThat(wrong).isEmpty();
    }
}
