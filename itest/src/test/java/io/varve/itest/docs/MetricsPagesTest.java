package io.varve.itest.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The pages name the metrics that there are, and all that tell how the bucket fares. */
class MetricsPagesTest {

    /** In sources: dots become underscores on the way to Prometheus. */
    private static final Pattern MADE = Pattern.compile("\"(varve[._][a-z0-9_.]+)\"");

    private static final Pattern NAMED = Pattern.compile("varve_[a-z0-9_]*[a-z0-9]");

    /** What Prometheus' names of counters and timers end with. */
    private static final List<String> SUFFIXES = List.of("_total", "_seconds", "_seconds_count", "_seconds_sum");

    /** Of these none may be left for an operator to find by chance. */
    private static final List<String> TOLD_WHOLLY =
            List.of("varve_tiering_", "varve_bookie_offload_", "varve_bookie_metadata_backup_");

    @Test
    void everyMetricThatAPageNamesIsThere() throws IOException {
        TreeSet<String> made = made();
        assertThat(made).as("metrics in the sources").hasSizeGreaterThan(50);
        assertThat(named()).allSatisfy(name -> assertThat(made).anyMatch(known -> is(name, known)));
    }

    @Test
    void everyMetricOfTieringIsOnAPage() throws IOException {
        TreeSet<String> named = named();
        assertThat(made().stream().filter(name -> TOLD_WHOLLY.stream().anyMatch(name::startsWith)))
                .allSatisfy(known -> assertThat(named).anyMatch(name -> is(name, known)));
    }

    private static boolean is(String name, String known) {
        return name.equals(known) || SUFFIXES.stream().anyMatch(suffix -> name.equals(known + suffix));
    }

    private static TreeSet<String> made() throws IOException {
        TreeSet<String> names = new TreeSet<>();
        for (String module : List.of("protocol", "metadata", "tiering", "bookie", "serving", "deploy")) {
            try (Stream<Path> files =
                    Files.walk(NamedClasses.ROOT.resolve(module).resolve("src/main/java"))) {
                files.filter(file -> file.toString().endsWith(".java")).forEach(file -> collect(MADE, file, names));
            }
        }
        return names;
    }

    private static TreeSet<String> named() throws IOException {
        TreeSet<String> names = new TreeSet<>();
        try (Stream<Path> files = Files.list(NamedClasses.ROOT.resolve("docs"))) {
            files.filter(file -> file.toString().endsWith(".md")).forEach(file -> collect(NAMED, file, names));
        }
        return names;
    }

    private static void collect(Pattern pattern, Path file, TreeSet<String> names) {
        try {
            Matcher found = pattern.matcher(Files.readString(file));
            while (found.find()) {
                names.add(found.group(found.groupCount()).replace('.', '_'));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
