package io.varve.serving.request.data;

import io.netty.buffer.ByteBuf;
import io.varve.serving.core.fetchsession.Wanted;
import io.varve.serving.kafka.wire.FetchedRecords;
import io.varve.serving.log.PartitionLog;
import io.varve.serving.log.PartitionLog.Isolation;
import io.varve.serving.log.PartitionLog.Offsets;
import io.varve.serving.log.PartitionLog.ReadResult;
import io.varve.serving.request.PartitionFinder.TopicKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.protocol.Errors;

/** One partition of a Fetch under way: what was read so far. Its {@link FetchTask} serializes all calls. */
final class FetchPart {

    private static final int LAST_OFFSET_DELTA_AT = 23;
    private static final int NOBODY = -1;

    private final Key key;
    private final Wanted wanted;
    private final List<ByteBuf> batches = new ArrayList<>();
    private final List<PartitionLog.AbortedTxn> aborted = new ArrayList<>();

    private Optional<PartitionLog> log = Optional.empty();
    private Errors error = Errors.NONE;
    private Offsets offsets = new Offsets(-1, -1, -1, -1, -1);
    private PartitionLog.EpochEnd diverging;
    private long nextOffset;
    private int bytes;
    private boolean exhausted;
    private boolean woken;
    private int preferred = NOBODY;

    FetchPart(Key key, Wanted wanted) {
        this.key = key;
        this.wanted = wanted;
        this.nextOffset = wanted.fetchOffset();
    }

    /** How a partition is named in a fetch session. */
    record Key(TopicKey topic, int partition) {}

    Key key() {
        return key;
    }

    Wanted wanted() {
        return wanted;
    }

    Errors error() {
        return error;
    }

    int bytes() {
        return bytes;
    }

    long nextOffset() {
        return nextOffset;
    }

    PartitionLog log() {
        return log.orElseThrow();
    }

    /** Bytes it may still add. */
    int bytesLeft() {
        return Math.max(0, wanted.bytesMax() - bytes);
    }

    /** Sends the reader to a broker that is nearer to it: there are no records here. */
    void prefer(int broker) {
        preferred = broker;
        exhaust();
    }

    boolean isElsewhere() {
        return preferred != NOBODY;
    }

    void fail(Errors with) {
        error = with;
    }

    void diverge(PartitionLog.EpochEnd end) {
        diverging = end;
    }

    boolean isDiverging() {
        return diverging != null;
    }

    /** The log to read from, with the consumer's idea of its epoch checked. */
    void open(PartitionLog found) {
        log = Optional.of(found);
        error = Epochs.check(wanted.leaderEpoch(), found);
        look();
    }

    /** Looks where the log stands; finds offsets below its start, which no owner has any more. */
    void look() {
        offsets = log().offsets();
        if (error == Errors.NONE && nextOffset < offsets.logStart()) {
            error = Errors.OFFSET_OUT_OF_RANGE;
        }
    }

    /** Whether there is something to read now that fits what is left of its own bound. */
    boolean isReady(Isolation isolation) {
        return isOpen() && bytesLeft() > 0 && (woken || nextOffset < bound(isolation));
    }

    /**
     * Whether its offset lies beyond the log's end. Whether it is out of range, or was read from an owner that this broker doesn't know of yet, is for
     * the log to find out (I-15, I-17): it is asked, though it won't give a batch.
     */
    boolean isBeyondEnd() {
        return isOpen() && nextOffset > offsets.end();
    }

    private boolean isOpen() {
        return error == Errors.NONE && diverging == null && !exhausted;
    }

    /** Its log says that there is something to read, or that it is lost: whichever it is, reading tells. */
    void wake() {
        woken = true;
    }

    /** Whether another batch of it may yet fit into this answer. */
    boolean mayGiveMore() {
        return !exhausted && bytesLeft() > 0;
    }

    /** Says that none will. */
    void exhaust() {
        exhausted = true;
    }

    private long bound(Isolation isolation) {
        return isolation == Isolation.READ_COMMITTED ? offsets.lastStable() : offsets.highWatermark();
    }

    /** Takes over what was read. */
    void add(ReadResult result) {
        woken = false;
        offsets = result.offsets();
        for (ByteBuf batch : result.batches()) {
            int at = batch.readerIndex();
            nextOffset = batch.getLong(at) + batch.getInt(at + LAST_OFFSET_DELTA_AT) + 1;
            bytes += batch.readableBytes();
        }
        batches.addAll(result.batches());
        aborted.addAll(result.aborted());
    }

    /** Gives everything back: nothing of it will be sent. */
    void release() {
        batches.forEach(ByteBuf::release);
        batches.clear();
        bytes = 0;
    }

    /** The partition's answer; takes the batches with it. */
    FetchResponseData.PartitionData answer(Isolation isolation) {
        FetchResponseData.PartitionData data = new FetchResponseData.PartitionData()
                .setPartitionIndex(key.partition())
                .setErrorCode(error.code())
                .setPreferredReadReplica(error == Errors.NONE ? preferred : NOBODY);
        boolean bounds = error == Errors.NONE || error == Errors.OFFSET_OUT_OF_RANGE;
        data.setHighWatermark(bounds ? offsets.highWatermark() : -1);
        data.setLastStableOffset(bounds ? offsets.lastStable() : -1);
        data.setLogStartOffset(bounds ? offsets.logStart() : -1);
        if (error != Errors.NONE) {
            release();
        }
        if (diverging != null) {
            data.setDivergingEpoch(new FetchResponseData.EpochEndOffset()
                    .setEpoch(diverging.epoch())
                    .setEndOffset(diverging.endOffset()));
        }
        if (isolation == Isolation.READ_COMMITTED && error == Errors.NONE) {
            data.setAbortedTransactions(aborted.stream()
                    .map(txn -> new FetchResponseData.AbortedTransaction()
                            .setProducerId(txn.producerId())
                            .setFirstOffset(txn.firstOffset()))
                    .toList());
        } else {
            data.setAbortedTransactions(null);
        }
        FetchedRecords.set(data, batches);
        return data;
    }
}
