package io.varve.serving.kafka.wire;

import io.netty.buffer.ByteBuf;
import io.varve.base.Invariant;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.message.ShareFetchResponseData;
import org.apache.kafka.common.protocol.ApiMessage;
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

    /** The same for a member of a share group. */
    public static void set(ShareFetchResponseData.PartitionData partition, List<ByteBuf> batches) {
        partition.setRecords(new FetchedRecords(List.copyOf(batches)));
    }

    /** Bytes of records in a partition's answer. */
    public static int bytes(FetchResponseData.PartitionData partition) {
        return partition.records() == null ? 0 : partition.records().sizeInBytes();
    }

    /** Bytes of records in an answer; 0 if it is none to a Fetch of any kind. */
    public static long bytes(ApiMessage response) {
        return recordsIn(response).mapToLong(BaseRecords::sizeInBytes).sum();
    }

    /** Gives back the references of an answer that won't be written; does nothing for one that is none to a Fetch of any kind. */
    public static void release(ApiMessage response) {
        recordsIn(response).forEach(FetchedRecords::release);
    }

    /** Gives back the references of a partition's answer that won't be written. */
    public static void release(FetchResponseData.PartitionData partition) {
        release(partition.records());
    }

    private static void release(BaseRecords records) {
        if (records instanceof FetchedRecords fetched) {
            fetched.take().forEach(ByteBuf::release);
        }
    }

    private static Stream<BaseRecords> recordsIn(ApiMessage response) {
        Stream<BaseRecords> all = Stream.empty();
        if (response instanceof FetchResponseData fetch) {
            all = fetch.responses().stream()
                    .flatMap(topic -> topic.partitions().stream())
                    .map(FetchResponseData.PartitionData::records);
        } else if (response instanceof ShareFetchResponseData fetch) {
            all = fetch.responses().stream()
                    .flatMap(topic -> topic.partitions().stream())
                    .map(ShareFetchResponseData.PartitionData::records);
        }
        return all.filter(Objects::nonNull);
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
