package io.varve.itest.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** {@code docs/INVARIANTS.md} names, for each invariant, code that keeps it and tests that look for its breach; both exist and say its number. */
class InvariantsPageTest {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final int INVARIANTS = 18;
    private static final Pattern ROW = Pattern.compile("\\| (I-\\d+) \\| (.+) \\| (.+) \\| (.+) \\|");
    private static final Pattern CLASS_NAME = Pattern.compile("`([A-Z][A-Za-z]+)`");

    @Test
    void everyInvariantIsKeptSomewhereAndTestedSomewhere() throws IOException {
        Map<String, List<Path>> main = sources("main");
        Map<String, List<Path>> test = sources("test");
        List<String> wrong = new ArrayList<>();
        List<String> rows = new ArrayList<>();
        for (String line : Files.readAllLines(ROOT.resolve("docs/INVARIANTS.md"))) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                rows.add(row.group(1));
                check(row.group(1), "kept by", row.group(3), main, wrong);
                check(row.group(1), "tested by", row.group(4), test, wrong);
            }
        }
        List<String> all = new ArrayList<>();
        for (int number = 1; number <= INVARIANTS; number++) {
            all.add("I-" + number);
        }
        assertThat(rows).containsExactlyElementsOf(all);
        assertThat(wrong).isEmpty();
    }

    private static void check(
            String invariant, String column, String cell, Map<String, List<Path>> sources, List<String> wrong)
            throws IOException {
        Matcher names = CLASS_NAME.matcher(cell);
        int found = 0;
        while (names.find()) {
            found++;
            List<Path> files = sources.getOrDefault(names.group(1), List.of());
            if (files.isEmpty()) {
                wrong.add(invariant + " " + column + ": there is no class " + names.group(1));
            } else if (!anySays(invariant, files)) {
                wrong.add(invariant + " " + column + ": " + names.group(1) + " doesn't say " + invariant);
            }
        }
        if (found == 0) {
            wrong.add(invariant + " " + column + ": nothing");
        }
    }

    private static boolean anySays(String invariant, List<Path> files) throws IOException {
        Pattern number = Pattern.compile(invariant + "\\b");
        for (Path file : files) {
            if (number.matcher(Files.readString(file)).find()) {
                return true;
            }
        }
        return false;
    }

    private static Map<String, List<Path>> sources(String kind) throws IOException {
        Map<String, List<Path>> byName = new TreeMap<>();
        for (String module : List.of("protocol", "metadata", "tiering", "bookie", "serving", "deploy", "itest")) {
            Path directory = ROOT.resolve(module).resolve("src").resolve(kind).resolve("java");
            if (Files.isDirectory(directory)) {
                try (Stream<Path> files = Files.walk(directory)) {
                    files.filter(file -> file.toString().endsWith(".java"))
                            .forEach(file -> byName.computeIfAbsent(
                                            file.getFileName().toString().replace(".java", ""),
                                            name -> new ArrayList<>())
                                    .add(file));
                }
            }
        }
        return byName;
    }
}
