package io.varve.tiering.object;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * The memory that a ranged read goes into, in pieces that its owner chose. A read may be tried several times, and a try that was given up may
 * go on for a while, or begin only then: only the newest try writes, and nobody does after the {@link #close}, so the owner may use the memory for
 * something else from then on. Safe for any thread.
 */
public final class RangeTarget {

    private final ByteBuffer[] pieces;
    private final int length;
    private Attempt newest;
    private boolean closed;

    /** @param pieces each filled from its position to its limit, which stay where they are; the memory stays the caller's */
    public RangeTarget(List<ByteBuffer> pieces) {
        this.pieces = pieces.toArray(ByteBuffer[]::new);
        int sum = 0;
        for (ByteBuffer piece : pieces) {
            sum = Math.addExact(sum, piece.remaining());
        }
        this.length = sum;
    }

    /** How many bytes it takes. */
    public int length() {
        return length;
    }

    /** A try, from the first byte on; the one before writes nothing more. To be called when a call is made, not when its answer comes. */
    public synchronized Attempt begin() {
        Attempt attempt = new Attempt();
        if (!closed) {
            newest = attempt;
        }
        return attempt;
    }

    /** From now on nothing is written, whoever begins. */
    public synchronized void close() {
        closed = true;
        newest = null;
    }

    /** One try. Used by one thread at a time. */
    public final class Attempt {

        private final ByteBuffer[] to = new ByteBuffer[pieces.length];
        private int piece;
        private int room = length;

        private Attempt() {
            for (int i = 0; i < to.length; i++) {
                to[i] = pieces[i].duplicate();
            }
        }

        /** Bytes that are still missing. */
        public int room() {
            return room;
        }

        /**
         * Adds bytes, up to {@code bytes}' limit, which its position moves to. They are dropped if the try was given up.
         *
         * @param bytes no more than there is {@link #room} for
         */
        public void put(ByteBuffer bytes) {
            room -= bytes.remaining();
            synchronized (RangeTarget.this) {
                if (newest != this) {
                    bytes.position(bytes.limit());
                    return;
                }
                while (bytes.hasRemaining()) {
                    ByteBuffer into = to[piece];
                    int count = Math.min(into.remaining(), bytes.remaining());
                    into.put(bytes.slice(bytes.position(), count));
                    bytes.position(bytes.position() + count);
                    piece += into.hasRemaining() ? 0 : 1;
                }
            }
        }
    }
}
