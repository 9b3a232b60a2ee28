package io.varve.serving.request.data;

import static org.apache.kafka.common.requests.ListOffsetsRequest.EARLIEST_LOCAL_TIMESTAMP;
import static org.apache.kafka.common.requests.ListOffsetsRequest.EARLIEST_PENDING_UPLOAD_TIMESTAMP;
import static org.apache.kafka.common.requests.ListOffsetsRequest.EARLIEST_TIMESTAMP;
import static org.apache.kafka.common.requests.ListOffsetsRequest.LATEST_TIERED_TIMESTAMP;
import static org.apache.kafka.common.requests.ListOffsetsRequest.LATEST_TIMESTAMP;
import static org.apache.kafka.common.requests.ListOffsetsRequest.MAX_TIMESTAMP;

import io.varve.serving.log.LogError;
import io.varve.serving.log.PartitionLog;
import io.varve.serving.log.PartitionLog.Isolation;
import io.varve.serving.log.PartitionLog.Offsets;
import io.varve.serving.log.PartitionLog.TimestampResult;
import io.varve.serving.request.Answer;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.ClientRequest;
import io.varve.serving.request.Futures;
import io.varve.serving.request.LogErrors;
import io.varve.serving.request.PartitionFinder.Found;
import io.varve.serving.request.PartitionFinder.TopicKey;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.message.ListOffsetsRequestData;
import org.apache.kafka.common.message.ListOffsetsRequestData.ListOffsetsPartition;
import org.apache.kafka.common.message.ListOffsetsResponseData;
import org.apache.kafka.common.message.ListOffsetsResponseData.ListOffsetsPartitionResponse;
import org.apache.kafka.common.message.ListOffsetsResponseData.ListOffsetsTopicResponse;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.ListOffsetsResponse;

/**
 * ListOffsets: the ends of a log, the ends of its tiers, and the first record at or after a time. The special times are known from the version
 * on in which Kafka brought them.
 */
public final class ListOffsetsHandler {

    private static final byte READ_COMMITTED = 1;
    /** The first version with a place for it: an older answer that holds one can't be written. */
    private static final short LEADER_EPOCH_VERSION = 4;

    private static final short MAX_TIMESTAMP_VERSION = 7;
    private static final short EARLIEST_LOCAL_VERSION = 8;
    private static final short LATEST_TIERED_VERSION = 9;
    private static final short PENDING_UPLOAD_VERSION = 11;

    private final BrokerServices broker;

    /** @param broker surroundings */
    public ListOffsetsHandler(BrokerServices broker) {
        this.broker = broker;
    }

    /** Handles one. */
    public CompletableFuture<Answer> handle(ClientRequest request) {
        ListOffsetsRequestData data = request.data();
        Isolation isolation =
                data.isolationLevel() == READ_COMMITTED ? Isolation.READ_COMMITTED : Isolation.READ_UNCOMMITTED;
        List<CompletableFuture<ListOffsetsTopicResponse>> topics = new ArrayList<>();
        for (ListOffsetsRequestData.ListOffsetsTopic topic : data.topics()) {
            List<CompletableFuture<ListOffsetsPartitionResponse>> partitions = new ArrayList<>();
            for (ListOffsetsPartition partition : topic.partitions()) {
                partitions.add(look(request.version(), topic.name(), partition, isolation));
            }
            topics.add(Futures.all(partitions)
                    .thenApply(found ->
                            new ListOffsetsTopicResponse().setName(topic.name()).setPartitions(found)));
        }
        return Futures.all(topics)
                .thenApply(found -> Answer.of(new ListOffsetsResponse(new ListOffsetsResponseData().setTopics(found))));
    }

    private CompletableFuture<ListOffsetsPartitionResponse> look(
            short version, String topic, ListOffsetsPartition partition, Isolation isolation) {
        if (partition.timestamp() < 0 && !isKnown(version, partition.timestamp())) {
            return failed(partition, Errors.UNSUPPORTED_VERSION);
        }
        CompletableFuture<ListOffsetsPartitionResponse> answer = broker.finder()
                .find(
                        TopicKey.of(topic),
                        partition.partitionIndex(),
                        broker.settings().takeoverWaitMs())
                .thenCompose(found -> look(found, partition, isolation));
        return broker.deadlines()
                .within(
                        broker.settings().adminTimeoutMs(),
                        answer,
                        () -> failedNow(partition, Errors.REQUEST_TIMED_OUT))
                .thenApply(found -> version < LEADER_EPOCH_VERSION ? found.setLeaderEpoch(-1) : found);
    }

    private CompletableFuture<ListOffsetsPartitionResponse> look(
            Found found, ListOffsetsPartition partition, Isolation isolation) {
        if (found.error() != Errors.NONE) {
            return failed(partition, found.error());
        }
        PartitionLog log = found.log().orElseThrow();
        Errors epochs = Epochs.check(partition.currentLeaderEpoch(), log);
        if (epochs != Errors.NONE) {
            return failed(partition, epochs);
        }
        Offsets offsets = log.offsets();
        long time = partition.timestamp();
        if (time == MAX_TIMESTAMP) {
            return log.maxTimestamp().thenApply(result -> byTime(partition, result));
        }
        if (time >= 0) {
            return log.offsetForTimestamp(time, isolation).thenApply(result -> byTime(partition, result));
        }
        return CompletableFuture.completedFuture(special(partition, log, offsets, isolation));
    }

    private ListOffsetsPartitionResponse special(
            ListOffsetsPartition partition, PartitionLog log, Offsets offsets, Isolation isolation) {
        if (partition.timestamp() == LATEST_TIMESTAMP) {
            long latest = isolation == Isolation.READ_COMMITTED ? offsets.lastStable() : offsets.highWatermark();
            return at(partition, latest, log.epoch());
        }
        if (partition.timestamp() == EARLIEST_TIMESTAMP) {
            return at(partition, offsets.logStart(), epochAt(log, offsets.logStart()));
        }
        if (partition.timestamp() == EARLIEST_LOCAL_TIMESTAMP) {
            return at(partition, offsets.localStart(), epochAt(log, offsets.localStart()));
        }
        OptionalLong tieredEnd =
                broker.view().partition(log.id()).map(TieredEnds::endOf).orElse(OptionalLong.empty());
        if (partition.timestamp() == LATEST_TIERED_TIMESTAMP) {
            return tieredEnd.isPresent()
                    ? at(partition, tieredEnd.getAsLong() - 1, epochAt(log, tieredEnd.getAsLong() - 1))
                    : at(partition, -1, -1);
        }
        long pending = Math.max(tieredEnd.orElse(offsets.localStart()), offsets.logStart());
        return at(partition, pending, epochAt(log, pending));
    }

    /** The epoch under which an offset was written, as the chain says; -1 if it doesn't. */
    private int epochAt(PartitionLog log, long offset) {
        return broker.view()
                .partition(log.id())
                .flatMap(state -> state.chain().covering(offset))
                .map(segment -> segment.epoch())
                .orElse(-1);
    }

    private static boolean isKnown(short version, long time) {
        if (time == LATEST_TIMESTAMP || time == EARLIEST_TIMESTAMP) {
            return true;
        }
        if (time == MAX_TIMESTAMP) {
            return version >= MAX_TIMESTAMP_VERSION;
        }
        if (time == EARLIEST_LOCAL_TIMESTAMP) {
            return version >= EARLIEST_LOCAL_VERSION;
        }
        if (time == LATEST_TIERED_TIMESTAMP) {
            return version >= LATEST_TIERED_VERSION;
        }
        return time == EARLIEST_PENDING_UPLOAD_TIMESTAMP && version >= PENDING_UPLOAD_VERSION;
    }

    private static ListOffsetsPartitionResponse byTime(ListOffsetsPartition partition, TimestampResult result) {
        if (result.error() != LogError.NONE) {
            return failedNow(partition, LogErrors.toKafka(result.error()));
        }
        return result.found()
                .map(found -> at(partition, found.offset(), found.epoch()).setTimestamp(found.timestampMs()))
                .orElseGet(() -> at(partition, -1, -1));
    }

    private static ListOffsetsPartitionResponse at(ListOffsetsPartition partition, long offset, int epoch) {
        return new ListOffsetsPartitionResponse()
                .setPartitionIndex(partition.partitionIndex())
                .setTimestamp(-1)
                .setOffset(offset)
                .setLeaderEpoch(epoch);
    }

    private static ListOffsetsPartitionResponse failedNow(ListOffsetsPartition partition, Errors error) {
        return at(partition, -1, -1).setErrorCode(error.code());
    }

    private static CompletableFuture<ListOffsetsPartitionResponse> failed(
            ListOffsetsPartition partition, Errors error) {
        return CompletableFuture.completedFuture(failedNow(partition, error));
    }
}
