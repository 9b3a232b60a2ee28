package io.varve.serving.log;

import io.varve.base.PartitionId;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** The logs that this broker owns. Safe for any thread. */
public interface PartitionLogs {

    /** The log if this broker owns it and serves it, or else why not. Never blocks. */
    Lookup find(PartitionId partition);

    /**
     * The sealed part of a log, whoever owns it, for readers alone (KIP-392): it ends where the open segment begins. Empty if nothing is sealed, or
     * if it can't be had now. Never fails.
     */
    CompletableFuture<Optional<PartitionLog>> sealed(PartitionId partition);

    /** All that are served now. */
    Collection<PartitionLog> all();

    /** Tells {@code listener} of every log that begins or ends to be served, and first of those that are served already. */
    void subscribe(OwnershipListener listener);

    /** What {@link #find} found. */
    sealed interface Lookup {
        /** It is here. */
        record Served(PartitionLog log) implements Lookup {}

        /** This broker owns it, but its takeover isn't finished: a retriable error, or a short wait. */
        record TakingOver(int epoch) implements Lookup {}

        /** Another broker owns it, or nobody does. */
        record NotOwner() implements Lookup {}

        /** As far as this broker knows no such partition exists. */
        record Unknown() implements Lookup {}
    }

    /** Called one call at a time for one partition, in order of epochs; must not block. */
    interface OwnershipListener {
        /** The takeover is complete: everything acknowledged before is readable, producer state is loaded. */
        void onServing(PartitionLog log);

        /** The log is served here no longer; appends under way fail or have failed. Never followed by anything of that epoch. */
        void onLost(PartitionId partition, int epoch);
    }
}
