package io.varve.serving.kafka.wire;

import io.netty.buffer.ByteBuf;
import io.varve.base.Invariant;
import java.util.List;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.record.internal.BaseRecords;
import org.apache.kafka.common.record.internal.RecordsSend;

/**
 * The record batches of one partition in a Fetch answer, as the log gave them: buffers with a reference each. Writing the answer passes
 * the references on to the socket; {@link #release} gives them back for an answer that is never written.
 */
public final class FetchedRecords implements BaseRecords {

    private final List<ByteBuf> batches;
    private final int sizeInBytes;
    private boolean taken;

    private FetchedRecords(List<ByteBuf> batches) {
        this.batches = batches;
        int sum = 0;
        for (ByteBuf batch : batches) {
            sum = Math.addExact(sum, batch.readableBytes());
        }
        this.sizeInBytes = sum;
    }

    /**
     * Puts batches into a partition's answer.
     *
     * @param batches the answer takes over one reference to each
     */
    public static void set(FetchResponseData.PartitionData partition, List<ByteBuf> batches) {
        partition.setRecords(new FetchedRecords(List.copyOf(batches)));
    }

    /** Puts an empty field of records (not an absent one, which some clients can't read) into a partition's answer. */
    public static void setEmpty(FetchResponseData.PartitionData partition) {
        partition.setRecords(new FetchedRecords(List.of()));
    }

    /** Bytes of records in a partition's answer. */
    public static int bytes(FetchResponseData.PartitionData partition) {
        return partition.records() == null ? 0 : partition.records().sizeInBytes();
    }

    /** Gives back the references of an answer that won't be written. */
    public static void release(FetchResponseData response) {
        response.responses().forEach(topic -> topic.partitions().forEach(FetchedRecords::release));
    }

    /** Gives back the references of a partition's answer that won't be written. */
    public static void release(FetchResponseData.PartitionData partition) {
        if (partition.records() instanceof FetchedRecords fetched) {
            fetched.take().forEach(ByteBuf::release);
        }
    }

    /** The buffers, and with them the references: once. */
    List<ByteBuf> take() {
        Invariant.check(!taken, "fetched records are written or released once");
        taken = true;
        return batches;
    }

    @Override
    public int sizeInBytes() {
        return sizeInBytes;
    }

    /** Not used: answers are written by {@link ResponseWriter}. */
    @Override
    public RecordsSend<? extends BaseRecords> toSend() {
        throw new UnsupportedOperationException("Answers are written by ResponseWriter.");
    }
}
