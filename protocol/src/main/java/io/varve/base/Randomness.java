package io.varve.base;

/** Where chance comes from. Handed in, so that a seed reproduces a run. Not safe for use by several threads unless it says so. */
public interface Randomness {

    /** All 64 bits random. */
    long nextLong();

    /**
     * Even over {@code [0, bound)}.
     *
     * @param bound positive
     */
    int nextInt(int bound);
}
