package io.varve.serving.core.share;

import java.util.Optional;

/** Where the delivery of a record stands. The numbers are those of Kafka's share coordinator. */
public enum DeliveryState {
    /** Nobody has it. */
    AVAILABLE(0),
    /** A member has it, until its lock runs out. Never stored: after a takeover it is available. */
    ACQUIRED(1),
    /** It was dealt with. Final. */
    ACKNOWLEDGED(2),
    /** It was given up, or there is nothing to deliver at its offset. Final. */
    ARCHIVED(4);

    private final byte id;

    DeliveryState(int id) {
        this.id = (byte) id;
    }

    /** Kafka's number. */
    public byte id() {
        return id;
    }

    /** Whether it stays so for good. */
    public boolean isFinal() {
        return this == ACKNOWLEDGED || this == ARCHIVED;
    }

    /** The one of that number. */
    public static Optional<DeliveryState> of(byte id) {
        for (DeliveryState state : values()) {
            if (state.id == id) {
                return Optional.of(state);
            }
        }
        return Optional.empty();
    }
}
