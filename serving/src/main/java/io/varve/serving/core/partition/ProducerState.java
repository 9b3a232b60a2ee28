package io.varve.serving.core.partition;

import java.nio.ByteBuffer;

/** What is known of one producer: its epoch, its last five batches, and its open transaction. */
final class ProducerState {

    /** How many batches a producer can have in flight, and how many repeats can be told with their offsets (KIP-679's bound). */
    static final int BATCHES = 5;

    static final short NO_EPOCH = -1;
    static final int NO_SEQUENCE = -1;
    static final long NO_TXN = -1;

    private static final int FIXED_BYTES = Long.BYTES + Short.BYTES + Integer.BYTES + 2 * Long.BYTES + 1;
    private static final int BATCH_BYTES = 2 * Integer.BYTES + 3 * Long.BYTES;

    final long producerId;
    short epoch = NO_EPOCH;
    int coordinatorEpoch = -1;
    long lastUpdateMs;
    long txnFirstOffset = NO_TXN;

    /** Its neighbours in {@link ProducersByAge}. */
    ProducerState older;

    ProducerState younger;

    private final int[] firstSequences = new int[BATCHES];
    private final int[] lastSequences = new int[BATCHES];
    private final long[] firstOffsets = new long[BATCHES];
    private final long[] lastOffsets = new long[BATCHES];
    private final long[] timestamps = new long[BATCHES];
    private int head;
    private int count;

    ProducerState(long producerId) {
        this.producerId = producerId;
    }

    boolean isInTransaction() {
        return txnFirstOffset != NO_TXN;
    }

    /** The last sequence number of its epoch, {@link #NO_SEQUENCE} before the first. */
    int lastSequence() {
        return count == 0 ? NO_SEQUENCE : lastSequences[slot(count - 1)];
    }

    /** A later epoch starts with sequence number 0 and nothing to repeat. */
    void toEpoch(short newEpoch) {
        if (newEpoch != epoch) {
            epoch = newEpoch;
            count = 0;
            head = 0;
        }
    }

    void add(int firstSequence, int lastSequence, long firstOffset, long lastOffset, long timestampMs) {
        if (count == BATCHES) {
            head = (head + 1) % BATCHES;
            count--;
        }
        int at = slot(count++);
        firstSequences[at] = firstSequence;
        lastSequences[at] = lastSequence;
        firstOffsets[at] = firstOffset;
        lastOffsets[at] = lastOffset;
        timestamps[at] = timestampMs;
    }

    /** Which of the remembered batches has these sequence numbers, or -1. */
    int find(int firstSequence, int lastSequence) {
        for (int i = count - 1; i >= 0; i--) {
            int at = slot(i);
            if (firstSequences[at] == firstSequence && lastSequences[at] == lastSequence) {
                return at;
            }
        }
        return -1;
    }

    /** Of its last batch, -1 before the first of its epoch. */
    long newestOffset() {
        return count == 0 ? -1 : lastOffsets[slot(count - 1)];
    }

    long firstOffset(int found) {
        return firstOffsets[found];
    }

    long lastOffset(int found) {
        return lastOffsets[found];
    }

    long timestampMs(int found) {
        return timestamps[found];
    }

    private int slot(int index) {
        return (head + index) % BATCHES;
    }

    int encodedBytes() {
        return FIXED_BYTES + count * BATCH_BYTES;
    }

    static int encodedBytesMin() {
        return FIXED_BYTES;
    }

    void encode(ByteBuffer to) {
        to.putLong(producerId)
                .putShort(epoch)
                .putInt(coordinatorEpoch)
                .putLong(lastUpdateMs)
                .putLong(txnFirstOffset)
                .put((byte) count);
        for (int i = 0; i < count; i++) {
            int at = slot(i);
            to.putInt(firstSequences[at])
                    .putInt(lastSequences[at])
                    .putLong(firstOffsets[at])
                    .putLong(lastOffsets[at])
                    .putLong(timestamps[at]);
        }
    }

    static ProducerState decode(ByteBuffer from) {
        ProducerState state = new ProducerState(from.getLong());
        state.epoch = from.getShort();
        state.coordinatorEpoch = from.getInt();
        state.lastUpdateMs = from.getLong();
        state.txnFirstOffset = from.getLong();
        int batches = from.get();
        if (batches < 0 || batches > BATCHES) {
            throw new CheckpointFormatException("a producer of " + batches + " batches");
        }
        for (int i = 0; i < batches; i++) {
            state.add(from.getInt(), from.getInt(), from.getLong(), from.getLong(), from.getLong());
        }
        return state;
    }
}
