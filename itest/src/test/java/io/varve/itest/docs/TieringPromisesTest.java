package io.varve.itest.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What {@code docs/TIERING.md} promises is kept by classes and looked for by tests that there are. */
class TieringPromisesTest {

    private static final String BEGIN = "| promise | kept by | tested by |";
    private static final Pattern ROW = Pattern.compile("\\| ([^|]+) \\| ([^|]+) \\| ([^|]+) \\|");

    /** So many there are, or more: a table that isn't found promises nothing. */
    private static final int ROWS_MIN = 30;

    @Test
    void everyPromiseIsKeptSomewhereAndTestedSomewhere() throws IOException {
        NamedClasses main = new NamedClasses("main");
        NamedClasses test = new NamedClasses("test");
        List<String> lines = Files.readAllLines(NamedClasses.ROOT.resolve("docs/TIERING.md"));
        List<String> wrong = new ArrayList<>();
        int rows = 0;
        for (int at = lines.indexOf(BEGIN) + 2;
                at < lines.size() && !lines.get(at).isEmpty();
                at++) {
            Matcher row = ROW.matcher(lines.get(at));
            assertThat(row.matches()).as(lines.get(at)).isTrue();
            main.checkThere(row.group(1), "kept by", row.group(2), wrong);
            test.checkThere(row.group(1), "tested by", row.group(3), wrong);
            rows++;
        }
        assertThat(rows).isGreaterThanOrEqualTo(ROWS_MIN);
        assertThat(wrong).isEmpty();
    }
}
