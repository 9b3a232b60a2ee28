package io.varve.metadata.model;

import io.varve.base.BookieId;
import java.util.Objects;

/**
 * Where one copy of a segment was put.
 *
 * @param bookie the bookie
 * @param incarnation the random number in the cookie of the data directory that holds the copy; a bookie whose disk was wiped or
 *     replaced comes back with another one, and is then not this replica (I-5, I-13). {@code 0} while it isn't known yet
 */
public record Replica(BookieId bookie, long incarnation) {
    public Replica {
        Objects.requireNonNull(bookie, "bookie");
    }
}
