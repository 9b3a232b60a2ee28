package io.varve.cli.text;

import java.util.Locale;

/** Numbers as people read them. Bytes by powers of 1024. */
public final class Units {

    private static final String[] BYTES = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

    private static final int MINUTES_FROM_S = 120;
    private static final int HOURS_FROM_S = 7_200;
    private static final int DAYS_FROM_S = 172_800;

    private Units() {}

    /** Such as {@code 12.3 MiB}. */
    public static String bytes(long count) {
        double value = count;
        int unit = 0;
        while (value >= 1024 && unit < BYTES.length - 1) {
            value /= 1024;
            unit++;
        }
        return unit == 0 ? count + " B" : String.format(Locale.ROOT, "%.1f %s", value, BYTES[unit]);
    }

    /** With a comma at the thousands. */
    public static String count(long count) {
        return String.format(Locale.ROOT, "%,d", count);
    }

    /** So many of a thing, such as {@code 1 segment} or {@code 1,200 segments}. */
    public static String counted(long count, String one) {
        return count(count) + " " + (count == 1 ? one : one + "s");
    }

    /** {@code count} per second over {@code nanos}, rounded; 0 for no time at all. */
    public static long perSecond(long count, long nanos) {
        return nanos <= 0 ? 0 : Math.round(count * 1e9 / nanos);
    }

    /** Milliseconds under ten seconds, seconds with one digit from there on. */
    public static String duration(long nanos) {
        long ms = Math.round(nanos / 1e6);
        return ms < 10_000 ? ms + " ms" : String.format(Locale.ROOT, "%.1f s", nanos / 1e9);
    }

    /** How old something is, as far as a person wants to know: from milliseconds to days. */
    public static String age(long ms) {
        double seconds = ms / 1e3;
        if (seconds < MINUTES_FROM_S) {
            return duration(ms * 1_000_000);
        }
        if (seconds < HOURS_FROM_S) {
            return String.format(Locale.ROOT, "%.0f min", seconds / 60);
        }
        return seconds < DAYS_FROM_S
                ? String.format(Locale.ROOT, "%.1f h", seconds / 3_600)
                : String.format(Locale.ROOT, "%.1f days", seconds / 86_400);
    }

    /** Microseconds as milliseconds with two digits. */
    public static String microsAsMs(long micros) {
        return String.format(Locale.ROOT, "%.2f ms", micros / 1000.0);
    }
}
