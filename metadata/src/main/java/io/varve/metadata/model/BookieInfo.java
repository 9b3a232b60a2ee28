package io.varve.metadata.model;

import io.varve.base.BookieId;
import java.util.List;
import java.util.Objects;

/**
 * A registered bookie.
 *
 * @param id {@code bookie.id}
 * @param sessionId random, new at every start of the process
 * @param incarnations the random numbers in the cookies of its data directories, those in service
 * @param rack empty if none was configured
 * @param host where brokers and other bookies reach it
 * @param port likewise
 * @param state what it can be used for
 * @param freeBytes as it last said
 * @param totalBytes likewise
 * @param goneSinceMs wall time at which its session ended, {@code -1} while it lives
 */
public record BookieInfo(
        BookieId id,
        long sessionId,
        List<Long> incarnations,
        String rack,
        String host,
        int port,
        State state,
        long freeBytes,
        long totalBytes,
        long goneSinceMs) {

    /** What a bookie can be used for. */
    public enum State {
        /** Takes new segments. */
        WRITABLE,
        /** Takes new segments, but is asked only where there is no other: an fsync of one of its disks takes long. */
        SLOW,
        /** Full: reads, fences and deletions only, and what internal topics need as long as the reserve lasts. */
        READ_ONLY,
        /** Being emptied for good. */
        DRAINING,
        /** Its session ended. */
        GONE;

        /** Whether new segments may be put there. */
        public boolean takesSegments() {
            return this == WRITABLE || this == SLOW;
        }

        /** Whether it is there and meant to stay, with all that it holds. */
        public boolean isStaying() {
            return takesSegments() || this == READ_ONLY;
        }
    }

    public BookieInfo {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(rack, "rack");
        Objects.requireNonNull(host, "host");
        Objects.requireNonNull(state, "state");
        incarnations = List.copyOf(incarnations);
    }
}
