package io.varve.itest.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** {@code docs/TIERING.md} names, for each case that hurt users of other tiered logs, the tests that look for it; they exist and say its number. */
class TieringCasesTest {

    private static final Pattern ROW = Pattern.compile("\\| ([SC]\\d+(?:\\.\\d)?) \\| (.+) \\| (.+) \\|");

    private static final List<String> CASES = List.of(
            "S1", "S2", "S3", "S4", "S5", "S6", "S8", "S9", "S10", "S11", "S13", "S14", "S15", "S16", "S18", "S19",
            "S20", "S22", "S23", "S24", "S25", "S27", "C13", "C14", "C15", "C16.1", "C16.2", "C16.3", "C16.4", "C16.5",
            "C16.6", "C16.7");

    @Test
    void everyCaseHasATestThatSaysItsNumber() throws IOException {
        NamedClasses tests = new NamedClasses("test");
        List<String> wrong = new ArrayList<>();
        List<String> rows = new ArrayList<>();
        for (String line : Files.readAllLines(NamedClasses.ROOT.resolve("docs/TIERING.md"))) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                rows.add(row.group(1));
                tests.check(row.group(1), "tested by", row.group(3), wrong);
            }
        }
        assertThat(rows).containsExactlyElementsOf(CASES);
        assertThat(wrong).isEmpty();
    }
}
