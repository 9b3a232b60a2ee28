package io.varve.tiering.testing;

import io.varve.base.Randomness;
import java.util.SplittableRandom;

/** Chance from a seed. */
public final class SteppedRandomness implements Randomness {

    private final SplittableRandom random;

    public SteppedRandomness(long seed) {
        this.random = new SplittableRandom(seed);
    }

    @Override
    public long nextLong() {
        return random.nextLong();
    }

    @Override
    public int nextInt(int bound) {
        return random.nextInt(bound);
    }
}
