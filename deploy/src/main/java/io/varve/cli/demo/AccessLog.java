package io.varve.cli.demo;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Iterator;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * A web access log in the combined format that never was: the same lines for the same seed. Visitors come back, few pages get most of
 * the requests, and now and then something fails, so that keys are skewed as they are in real life.
 */
final class AccessLog implements Iterator<DemoRecord> {

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("dd/MMM/yyyy:HH:mm:ss Z", Locale.ROOT).withZone(ZoneOffset.UTC);
    private static final String[] PATHS = {
        "/",
        "/index.html",
        "/search",
        "/cart",
        "/checkout",
        "/login",
        "/logout",
        "/help",
        "/static/app.js",
        "/static/app.css",
        "/api/items",
        "/api/orders",
        "/api/session",
        "/feed.xml",
        "/robots.txt",
        "/images/logo.png"
    };
    private static final String[] AGENTS = {
        "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
        "curl/8.14.1"
    };
    private static final int VISITORS = 5_000;

    private final SplittableRandom random;
    private final long lines;
    private long timeMs;
    private long made;

    /**
     * @param seed what the lines follow from
     * @param lines how many there are
     * @param startMs wall time of the first line
     */
    AccessLog(long seed, long lines, long startMs) {
        this.random = new SplittableRandom(seed);
        this.lines = lines;
        this.timeMs = startMs;
    }

    @Override
    public boolean hasNext() {
        return made < lines;
    }

    /** The next line, under its visitor's address as the key. */
    @Override
    public DemoRecord next() {
        made++;
        timeMs += random.nextInt(20);
        int visitor = skewed(VISITORS);
        String address = "10." + (visitor >> 8) + "." + (visitor & 0xff) + "." + (1 + visitor % 254);
        String path = PATHS[skewed(PATHS.length)];
        String line =
                address + " - - [" + TIME.format(Instant.ofEpochMilli(timeMs)) + "] \"" + method(path) + " " + path
                        + "?r=" + Long.toString(random.nextLong() >>> 1, 36) + " HTTP/1.1\" " + status() + " "
                        + (200 + random.nextInt(60_000)) + " \"-\" \"" + AGENTS[visitor % AGENTS.length] + "\"";
        return new DemoRecord(address, line);
    }

    /** Low numbers are far more frequent than high ones. */
    private int skewed(int bound) {
        double even = random.nextDouble();
        return (int) (even * even * even * bound);
    }

    private static String method(String path) {
        return path.startsWith("/api/orders") || path.equals("/login") ? "POST" : "GET";
    }

    private int status() {
        int draw = random.nextInt(100);
        if (draw < 90) {
            return 200;
        }
        return draw < 95 ? 304 : draw < 99 ? 404 : 500;
    }
}
