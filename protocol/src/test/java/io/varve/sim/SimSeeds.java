package io.varve.sim;

import java.util.stream.LongStream;

/** Which seeds a simulation runs: from the system property {@code varve.simulation.seeds}, "200" for 1 to 200, "17:17" for one. */
public final class SimSeeds {

    private static final int COUNT_DEFAULT = 200;

    private SimSeeds() {}

    /** All of them. */
    public static LongStream all() {
        return parse(System.getProperty("varve.simulation.seeds", Integer.toString(COUNT_DEFAULT)));
    }

    /** A share of them, at least one: for simulations whose runs take longer than others'. */
    public static LongStream oneIn(int parts) {
        long count = all().count();
        return all().limit(Math.max(1, count / parts));
    }

    static LongStream parse(String text) {
        int colon = text.indexOf(':');
        if (colon < 0) {
            return LongStream.rangeClosed(1, Long.parseLong(text.trim()));
        }
        return LongStream.rangeClosed(
                Long.parseLong(text.substring(0, colon).trim()),
                Long.parseLong(text.substring(colon + 1).trim()));
    }
}
