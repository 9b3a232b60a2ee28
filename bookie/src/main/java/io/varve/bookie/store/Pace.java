package io.varve.bookie.store;

/** Told after so many bytes were read in the background, to slow that down. */
@FunctionalInterface
interface Pace {

    /** @return whether to go on */
    boolean afterBytes(int bytes);
}
