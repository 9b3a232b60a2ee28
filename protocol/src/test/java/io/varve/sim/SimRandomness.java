package io.varve.sim;

import io.varve.base.Randomness;
import java.util.SplittableRandom;

/** Chance from a seed. */
public final class SimRandomness implements Randomness {

    private final SplittableRandom random;

    public SimRandomness(long seed) {
        this(new SplittableRandom(seed));
    }

    private SimRandomness(SplittableRandom random) {
        this.random = random;
    }

    @Override
    public long nextLong() {
        return random.nextLong();
    }

    @Override
    public int nextInt(int bound) {
        return random.nextInt(bound);
    }

    /** Even over {@code [least, most]}. */
    public long between(long least, long most) {
        return least + Math.floorMod(random.nextLong(), most - least + 1);
    }

    /** True in {@code percent} of all cases; fractions count. */
    public boolean percent(double percent) {
        return random.nextDouble() * 100 < percent;
    }

    /** Another source, which the draws from this one don't change any more. */
    public SimRandomness split() {
        return new SimRandomness(random.split());
    }
}
