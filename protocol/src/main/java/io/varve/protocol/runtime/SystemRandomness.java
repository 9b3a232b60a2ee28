package io.varve.protocol.runtime;

import io.varve.base.Randomness;
import java.security.SecureRandom;
import java.util.concurrent.ThreadLocalRandom;

/** The machine's chance. Safe for any thread. */
public final class SystemRandomness implements Randomness {

    /** The only one. */
    public static final Randomness INSTANCE = new SystemRandomness();

    private SystemRandomness() {}

    @Override
    public long nextLong() {
        return ThreadLocalRandom.current().nextLong();
    }

    @Override
    public int nextInt(int bound) {
        return ThreadLocalRandom.current().nextInt(bound);
    }

    /** A number that no other process will draw: for session ids, incarnations and cluster ids. Never 0. */
    public static long unique() {
        SecureRandom secure = new SecureRandom();
        long drawn = secure.nextLong();
        while (drawn == 0) {
            drawn = secure.nextLong();
        }
        return drawn;
    }
}
