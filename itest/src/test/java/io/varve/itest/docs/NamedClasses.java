package io.varve.itest.docs;

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

/** The classes of the tree's main or test sources, for pages that name some and say what they are about. */
final class NamedClasses {

    static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    private static final Pattern CLASS_NAME = Pattern.compile("`([A-Z][A-Za-z0-9]+)`");

    private final Map<String, List<Path>> files = new TreeMap<>();

    /** @param kind main or test */
    NamedClasses(String kind) throws IOException {
        for (String module : List.of("protocol", "metadata", "tiering", "bookie", "serving", "deploy", "itest")) {
            Path directory = ROOT.resolve(module).resolve("src").resolve(kind).resolve("java");
            if (Files.isDirectory(directory)) {
                try (Stream<Path> all = Files.walk(directory)) {
                    all.filter(file -> file.toString().endsWith(".java"))
                            .forEach(file -> files.computeIfAbsent(
                                            file.getFileName().toString().replace(".java", ""),
                                            name -> new ArrayList<>())
                                    .add(file));
                }
            }
        }
    }

    /**
     * Checks that a cell names classes, and that they exist.
     *
     * @param row whose cell it is
     * @param wrong takes a line for whatever isn't so
     */
    void checkThere(String row, String column, String cell, List<String> wrong) {
        Matcher names = CLASS_NAME.matcher(cell);
        int found = 0;
        while (names.find()) {
            found++;
            if (!files.containsKey(names.group(1))) {
                wrong.add(row + " " + column + ": there is no class " + names.group(1));
            }
        }
        if (found == 0) {
            wrong.add(row + " " + column + ": nothing");
        }
    }

    /**
     * Checks that a cell names classes, that they exist, and that each says a number.
     *
     * @param wrong takes a line for whatever isn't so
     */
    void check(String number, String column, String cell, List<String> wrong) throws IOException {
        Matcher names = CLASS_NAME.matcher(cell);
        int found = 0;
        while (names.find()) {
            found++;
            List<Path> sources = files.getOrDefault(names.group(1), List.of());
            if (sources.isEmpty()) {
                wrong.add(number + " " + column + ": there is no class " + names.group(1));
            } else if (!anySays(number, sources)) {
                wrong.add(number + " " + column + ": " + names.group(1) + " doesn't say " + number);
            }
        }
        if (found == 0) {
            wrong.add(number + " " + column + ": nothing");
        }
    }

    private static boolean anySays(String number, List<Path> sources) throws IOException {
        Pattern said = Pattern.compile("(?<![A-Za-z0-9.])" + Pattern.quote(number) + "(?![0-9])");
        for (Path file : sources) {
            if (said.matcher(Files.readString(file)).find()) {
                return true;
            }
        }
        return false;
    }
}
