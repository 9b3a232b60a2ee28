package io.varve.bookie.store;

import io.netty.buffer.ByteBuf;
import io.varve.base.Invariant;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.RecordType;
import io.varve.bookie.core.SegmentReplica.Verdict;
import io.varve.bookie.journal.JournalOp;
import io.varve.bookie.journal.JournalWriter;
import io.varve.protocol.storage.EntryFormat;

/** One entry on its way into the journal. */
final class AppendOp extends JournalOp {

    private final Replica replica;
    private final int epoch;
    private final long firstOffset;
    private final long lastOffset;
    private final int crc;
    private final long highWatermark;
    private final SegmentStore.AppendCallback callback;
    private final int entryBytes;
    private final long submittedNs;
    private final boolean refusedAtOnce;
    private ByteBuf payload;
    private BookieStatus status;
    private long end = -1;

    /**
     * @param payload one reference is taken over
     * @param refused why it is refused whatever the replica's state, or {@code null}: answered in its turn
     */
    AppendOp(
            Replica replica,
            int epoch,
            long firstOffset,
            long lastOffset,
            int crc,
            ByteBuf payload,
            long highWatermark,
            SegmentStore.AppendCallback callback,
            BookieStatus refused,
            long submittedNs) {
        this.replica = replica;
        this.epoch = epoch;
        this.firstOffset = firstOffset;
        this.lastOffset = lastOffset;
        this.crc = crc;
        this.payload = payload;
        this.highWatermark = highWatermark;
        this.callback = callback;
        this.status = refused;
        this.refusedAtOnce = refused != null;
        this.submittedNs = submittedNs;
        this.entryBytes = EntryFormat.HEADER_BYTES + payload.readableBytes();
        if (refused != null) {
            releasePayload();
        }
    }

    @Override
    protected int pendingBytes() {
        return refusedAtOnce ? 0 : entryBytes;
    }

    @Override
    protected int roomBytes() {
        if (status == null) {
            status = decide();
        }
        return status == null ? JournalFormat.recordBytes(RecordType.ENTRY, payload.readableBytes()) : 0;
    }

    /** Why it is refused, OK if it is a repeat, or {@code null} if it is to be written. */
    private BookieStatus decide() {
        if (!replica.isLive()) {
            return BookieStatus.NO_SUCH_SEGMENT;
        }
        if (!replica.isIntact()) {
            return BookieStatus.UNKNOWN;
        }
        Verdict verdict = replica.state.judge(epoch, firstOffset, lastOffset);
        end = replica.state.acceptedEnd();
        return switch (verdict) {
            case ACCEPT -> replica.isRefused() ? BookieStatus.READ_ONLY : null;
            case REPEAT -> BookieStatus.OK;
            case GAP -> BookieStatus.GAP;
            case FENCED -> BookieStatus.FENCED;
            case SEALED -> BookieStatus.SEALED;
            case INVALID -> BookieStatus.INVALID;
        };
    }

    @Override
    protected void encode(JournalWriter to) {
        if (status == null) {
            int at = to.begin(RecordType.ENTRY, payload.readableBytes());
            to.buffer()
                    .putLong(at, replica.id().value())
                    .putLong(at + 8, highWatermark)
                    .putLong(at + 16, firstOffset)
                    .putLong(at + 24, lastOffset)
                    .putInt(at + 32, payload.readableBytes())
                    .putInt(at + 36, crc);
            to.putPayload(payload);
            long position = to.end();
            replica.state.accept(firstOffset, lastOffset, highWatermark);
            boolean adjoins = replica.index.add(to.fileNumber(), position, firstOffset, lastOffset + 1, entryBytes);
            Invariant.check(adjoins, "I-3 entries are indexed without a gap", firstOffset);
            replica.bytes += entryBytes;
            end = lastOffset + 1;
        }
        releasePayload();
    }

    private void releasePayload() {
        if (payload != null) {
            payload.release();
            payload = null;
        }
    }

    @Override
    protected void onDurable() {
        if (status == null) {
            replica.state.onDurable(end);
            replica.directory.onAppended(entryBytes, submittedNs);
            replica.directory.acks.ok(replica, callback, end);
        } else if (status == BookieStatus.OK) {
            replica.directory.acks.ok(replica, callback, end);
        } else {
            replica.directory.acks.release(replica);
            replica.directory.onRefused(status);
            callback.onAppended(status, end);
        }
    }

    @Override
    protected void onLost() {
        releasePayload();
        replica.directory.acks.release(replica);
        callback.onAppended(BookieStatus.UNKNOWN, -1);
    }
}
