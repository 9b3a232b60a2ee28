package io.varve.serving.core.telemetry;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.zip.CRC32C;

/**
 * What clients are to report: one configured subscription, or all that match a client put together.
 *
 * @param match which clients
 * @param metrics prefixes of names, or {@link #ALL}
 * @param intervalMs how often
 */
public record Subscription(ClientMatch match, SortedSet<String> metrics, int intervalMs) {

    /** The configuration key of the prefixes. */
    public static final String METRICS_KEY = "metrics";

    /** The configuration key of the interval. */
    public static final String INTERVAL_KEY = "interval.ms";

    /** The configuration key of the clients. */
    public static final String MATCH_KEY = "match";

    /** The bounds and the default of the interval. */
    public static final int INTERVAL_MS_MIN = 100;

    /** The bounds and the default of the interval. */
    public static final int INTERVAL_MS_MAX = 3_600_000;

    /** The bounds and the default of the interval. */
    public static final int INTERVAL_MS_DEFAULT = 300_000;

    /** Stands for every metric, on the wire as an empty name. */
    private static final String ALL = "*";

    private static final String ALL_ON_WIRE = "";

    /** One as it is configured. */
    public static Subscription parse(SortedMap<String, String> configs) {
        return new Subscription(
                ClientMatch.parse(configs.getOrDefault(MATCH_KEY, "")),
                new TreeSet<>(elements(configs.getOrDefault(METRICS_KEY, ""))),
                Integer.parseInt(configs.getOrDefault(INTERVAL_KEY, Integer.toString(INTERVAL_MS_DEFAULT))
                        .trim()));
    }

    /** All of {@code configured} that are for {@code client}, put together: all their metrics, at the shortest of their intervals. */
    public static Subscription of(ClientFacts client, List<Subscription> configured) {
        SortedSet<String> metrics = new TreeSet<>();
        int intervalMs = INTERVAL_MS_MAX;
        boolean any = false;
        for (Subscription one : configured) {
            if (one.match.matches(client)) {
                any = true;
                metrics.addAll(one.metrics);
                intervalMs = Math.min(intervalMs, one.intervalMs);
            }
        }
        if (metrics.contains(ALL)) {
            metrics.clear();
            metrics.add(ALL);
        }
        return new Subscription(ClientMatch.parse(""), metrics, any ? intervalMs : INTERVAL_MS_DEFAULT);
    }

    /** The names as clients are told them. */
    public List<String> onWire() {
        return metrics.contains(ALL) ? List.of(ALL_ON_WIRE) : List.copyOf(metrics);
    }

    /** A number that changes when what a client is to report does. */
    public int id(String instanceId) {
        CRC32C sum = new CRC32C();
        sum.update((metrics + "@" + intervalMs).getBytes(StandardCharsets.UTF_8));
        return (int) sum.getValue() ^ instanceId.hashCode();
    }

    /** What is separated by commas in {@code text}, without blanks around it. */
    static List<String> elements(String text) {
        List<String> elements = new ArrayList<>();
        for (String element : text.split(",")) {
            if (!element.isBlank()) {
                elements.add(element.trim());
            }
        }
        return elements;
    }
}
