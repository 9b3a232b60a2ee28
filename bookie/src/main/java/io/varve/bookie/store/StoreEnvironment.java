package io.varve.bookie.store;

import io.micrometer.core.instrument.MeterRegistry;
import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.base.Randomness;
import io.varve.bookie.core.RecoveryRule;
import java.io.Closeable;
import java.io.IOException;

/**
 * What a store lives in: all that a simulation replaces.
 *
 * @param randomness for the incarnations of new directories
 * @param driver what makes directories do their work: threads, or a simulation's steps
 */
record StoreEnvironment(
        Clock clock,
        Randomness randomness,
        FaultHandler faults,
        StoreListener listener,
        MeterRegistry registry,
        RecoveryRule recoveryRule,
        Driver driver) {

    /** Makes directories do their work. */
    @FunctionalInterface
    interface Driver {
        /** {@link DirectoryStore#start Starts} a directory that is loaded, {@link DirectoryStore#attach attaches} to it, and works until it is closed. */
        Closeable drive(DirectoryStore directory) throws IOException;
    }
}
