package io.varve.serving.request.data;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.InternalTopics;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Topic;
import io.varve.serving.coordinator.TransactionCoordinators;
import io.varve.serving.coordinator.TransactionCoordinators.Verification;
import io.varve.serving.kafka.record.RecordValidation;
import io.varve.serving.kafka.wire.ProducePayloads;
import io.varve.serving.kafka.wire.ProducePayloads.PartitionPayload;
import io.varve.serving.kafka.wire.ProducePayloads.TopicPayload;
import io.varve.serving.log.LogError;
import io.varve.serving.log.PartitionLog;
import io.varve.serving.log.PartitionLog.AppendOptions;
import io.varve.serving.log.PartitionLog.AppendResult;
import io.varve.serving.request.Answer;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.ClientRequest;
import io.varve.serving.request.LogErrors;
import io.varve.serving.request.Nodes;
import io.varve.serving.request.PartitionFinder.Found;
import io.varve.serving.request.PartitionFinder.TopicKey;
import io.varve.serving.request.TopicCache.TopicRules;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.message.ProduceRequestData;
import org.apache.kafka.common.message.ProduceResponseData;
import org.apache.kafka.common.message.ProduceResponseData.PartitionProduceResponse;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.ProduceResponse;

/**
 * Produce: validates each partition's records where they lie in the request and hands them to the log. {@code acks=1} is answered as
 * {@code acks=all}; {@code acks=0} isn't answered. An error stays in its partition.
 *
 * <p>Called on the connection's event loop; an append is in the log's hands when {@link #handle} returns, so that the next request's comes
 * behind it. Where something has to be waited for first, {@link AppendOrder} keeps that order.
 */
public final class ProduceHandler {

    private static final short LEADER_HINT_VERSION = 10;
    private static final short TRANSACTION_V2_VERSION = 12;

    /** From this one on clients know TRANSACTION_ABORTABLE. */
    private static final short ABORTABLE_VERSION = 11;

    private static final String ADMIN_CLIENT = "__admin_client";

    private final BrokerServices broker;
    private final RecordValidation validation;
    private final TransactionCoordinators transactions;
    private final AppendOrder order = new AppendOrder();

    /** @param transactions to ask about writes that open a transaction on a partition */
    public ProduceHandler(BrokerServices broker, RecordValidation validation, TransactionCoordinators transactions) {
        this.broker = broker;
        this.validation = validation;
        this.transactions = transactions;
    }

    /** Handles one. */
    public CompletableFuture<Answer> handle(ClientRequest request) {
        ProduceRequestData data = request.data();
        if (data.acks() < -1 || data.acks() > 1) {
            AbstractResponse refusal =
                    request.parsed().body().getErrorResponse(Errors.INVALID_REQUIRED_ACKS.exception());
            return CompletableFuture.completedFuture(Answer.of(refusal));
        }
        List<TopicPayload> topics = ProducePayloads.of(request.parsed());
        ProduceAnswer answer = new ProduceAnswer(shapes(topics));
        int slot = 0;
        for (TopicPayload topic : topics) {
            TopicKey key = new TopicKey(topic.name(), topic.topicId());
            for (PartitionPayload partition : topic.partitions()) {
                ByteBuf records = partition.records() == null ? Unpooled.EMPTY_BUFFER : partition.records();
                new Write(request, data, key, partition.index(), records, answer, slot++).begin();
            }
        }
        return finished(request, data, answer);
    }

    private CompletableFuture<Answer> finished(ClientRequest request, ProduceRequestData data, ProduceAnswer answer) {
        CompletableFuture<ProduceResponseData> whole = answer.whole();
        if (!whole.isDone()) {
            Runnable cancel = broker.deadlines().after(data.timeoutMs(), answer::onTimeout);
            whole.whenComplete((done, failure) -> cancel.run());
        }
        return whole.thenApply(result -> data.acks() == 0 ? silent(result) : answered(request, result));
    }

    private static Answer silent(ProduceResponseData result) {
        boolean failed = result.responses().stream()
                .flatMap(topic -> topic.partitionResponses().stream())
                .anyMatch(partition -> partition.errorCode() != Errors.NONE.code());
        return failed ? Answer.CLOSE : Answer.NONE;
    }

    private Answer answered(ClientRequest request, ProduceResponseData result) {
        if (request.version() >= LEADER_HINT_VERSION) {
            addLeaders(request, result);
        }
        return Answer.of(new ProduceResponse(result));
    }

    /** Tells producers at once where the partition is now (KIP-951). */
    private void addLeaders(ClientRequest request, ProduceResponseData result) {
        MetadataView view = broker.view();
        for (ProduceResponseData.TopicProduceResponse topic : result.responses()) {
            for (PartitionProduceResponse partition : topic.partitionResponses()) {
                if (partition.errorCode() == Errors.NOT_LEADER_OR_FOLLOWER.code()) {
                    new TopicKey(topic.name(), topic.topicId())
                            .in(view)
                            .flatMap(found -> view.partition(new PartitionId(found.id(), partition.index())))
                            .ifPresent(state -> addLeader(request, result, view, state, partition));
                }
            }
        }
    }

    private static void addLeader(
            ClientRequest request,
            ProduceResponseData result,
            MetadataView view,
            PartitionState state,
            PartitionProduceResponse partition) {
        Nodes.living(view, state.owner(), request.session().listener()).ifPresent(node -> {
            partition.setCurrentLeader(new ProduceResponseData.LeaderIdAndEpoch()
                    .setLeaderId(node.id())
                    .setLeaderEpoch(state.epoch()));
            ProduceAnswer.addEndpoint(result, node);
        });
    }

    private static List<ProduceAnswer.TopicShape> shapes(List<TopicPayload> topics) {
        List<ProduceAnswer.TopicShape> shapes = new ArrayList<>(topics.size());
        for (TopicPayload topic : topics) {
            int[] partitions = topic.partitions().stream()
                    .mapToInt(PartitionPayload::index)
                    .toArray();
            shapes.add(new ProduceAnswer.TopicShape(topic.name(), topic.topicId(), partitions));
        }
        return shapes;
    }

    /** The write to one partition. */
    private final class Write {

        private final ClientRequest request;
        private final ProduceRequestData data;
        private final TopicKey topic;
        private final int partition;
        private final ByteBuf records;
        private final ProduceAnswer answer;
        private final int slot;

        private Write(
                ClientRequest request,
                ProduceRequestData data,
                TopicKey topic,
                int partition,
                ByteBuf records,
                ProduceAnswer answer,
                int slot) {
            this.request = request;
            this.data = data;
            this.topic = topic;
            this.partition = partition;
            this.records = records;
            this.answer = answer;
            this.slot = slot;
        }

        private void begin() {
            AppendOrder.Place place = new AppendOrder.Place(topic, partition);
            Found found = broker.finder().now(topic, partition);
            if (found.error() == Errors.NONE && order.isFree(place)) {
                RecordValidation.Valid valid = validate(found);
                if (valid == null) {
                    return;
                }
                PartitionLog log = found.log().orElseThrow();
                if (needsVerification(log, valid)) {
                    order.queue(place, () -> verifyAndAppend(found, valid));
                } else {
                    append(log, valid, AppendOptions.CLIENT);
                }
                return;
            }
            // The frame may be gone by the time of the append: the request's deadline doesn't wait for it.
            records.retain();
            long waitMs = Math.min(data.timeoutMs(), broker.settings().takeoverWaitMs());
            order.queue(
                    place,
                    () -> broker.finder()
                            .find(topic, partition, waitMs)
                            .thenCompose(this::handOver)
                            .whenComplete((done, failure) -> {
                                records.release();
                                if (failure != null) {
                                    fail(Errors.forException(failure), null);
                                }
                            }));
        }

        private CompletableFuture<Void> handOver(Found found) {
            if (found.error() != Errors.NONE) {
                fail(found.error(), null);
                return CompletableFuture.completedFuture(null);
            }
            RecordValidation.Valid valid = validate(found);
            if (valid == null) {
                return CompletableFuture.completedFuture(null);
            }
            PartitionLog log = found.log().orElseThrow();
            if (needsVerification(log, valid)) {
                return verifyAndAppend(found, valid);
            }
            append(log, valid, AppendOptions.CLIENT);
            return CompletableFuture.completedFuture(null);
        }

        /** The batches, or {@code null} after the partition's error was set. */
        private RecordValidation.Valid validate(Found found) {
            Topic of = found.topic().orElseThrow();
            if (InternalTopics.isInternal(of.name()) && !request.clientId().equals(ADMIN_CLIENT)) {
                fail(Errors.INVALID_TOPIC_EXCEPTION, "Cannot append to internal topic " + of.name());
                return null;
            }
            RecordValidation.Outcome outcome =
                    validation.validate(records, rules(of, broker.topics().rules(broker.view(), of)));
            if (outcome instanceof RecordValidation.Invalid invalid) {
                answer.set(slot, refused(invalid));
                return null;
            }
            return (RecordValidation.Valid) outcome;
        }

        private RecordValidation.Rules rules(Topic of, TopicRules rules) {
            return new RecordValidation.Rules(
                    of.name(),
                    partition,
                    request.version(),
                    rules.maxBatchBytes(),
                    rules.compression(),
                    rules.compacted(),
                    rules.logAppendTime(),
                    rules.timestampBeforeMaxMs(),
                    rules.timestampAfterMaxMs(),
                    broker.clock().wallTimeMs());
        }

        private boolean needsVerification(PartitionLog log, RecordValidation.Valid valid) {
            PartitionLog.Batch first = valid.batches().get(0);
            return first.transactional() && !log.isInTransaction(first.producerId(), first.producerEpoch());
        }

        /** Asks the transaction's coordinator whether the partition is in it, and has it added by protocol version 2 (KIP-890). */
        private CompletableFuture<Void> verifyAndAppend(Found found, RecordValidation.Valid valid) {
            if (data.transactionalId() == null) {
                valid.batches().forEach(batch -> batch.payload().release());
                fail(Errors.INVALID_RECORD, "A transactional batch came without a transactional id.");
                return CompletableFuture.completedFuture(null);
            }
            PartitionLog.Batch first = valid.batches().get(0);
            TopicPartition which =
                    new TopicPartition(found.topic().orElseThrow().name(), partition);
            Verification how = verificationBy(request.version());
            PartitionLog log = found.log().orElseThrow();
            long endOffset = log.offsets().end();
            return transactions
                    .verify(data.transactionalId(), first.producerId(), first.producerEpoch(), List.of(which), how)
                    .thenAccept(errors -> {
                        Errors error = errors.getOrDefault(which, Errors.UNKNOWN_SERVER_ERROR);
                        if (error == Errors.NONE) {
                            append(log, valid, AppendOptions.verifiedAt(endOffset));
                        } else {
                            valid.batches().forEach(batch -> batch.payload().release());
                            fail(error, null);
                        }
                    });
        }

        private static Verification verificationBy(int version) {
            if (version >= TRANSACTION_V2_VERSION) {
                return Verification.ADD;
            }
            return version >= ABORTABLE_VERSION ? Verification.VERIFY : Verification.VERIFY_FOR_OLD_CLIENT;
        }

        private void append(PartitionLog log, RecordValidation.Valid valid, AppendOptions options) {
            log.append(valid.batches(), options).whenComplete((result, failure) -> {
                if (failure != null) {
                    fail(Errors.forException(failure), null);
                } else {
                    answer.set(slot, done(valid, result));
                }
            });
        }

        private PartitionProduceResponse done(RecordValidation.Valid valid, AppendResult result) {
            if (result.error() != LogError.NONE) {
                return ProduceAnswer.failed(partition, LogErrors.toKafka(result.error()), result.message())
                        .setLogStartOffset(result.logStart());
            }
            boolean repeated = valid.logAppendTimeMs() >= 0 && result.repeatedTimestampMs() >= 0;
            return new PartitionProduceResponse()
                    .setIndex(partition)
                    .setBaseOffset(result.baseOffset())
                    .setLogAppendTimeMs(repeated ? result.repeatedTimestampMs() : valid.logAppendTimeMs())
                    .setLogStartOffset(result.logStart());
        }

        private PartitionProduceResponse refused(RecordValidation.Invalid invalid) {
            PartitionProduceResponse response = ProduceAnswer.failed(partition, invalid.error(), invalid.message());
            for (RecordValidation.BadRecord bad : invalid.records()) {
                response.recordErrors()
                        .add(new ProduceResponseData.BatchIndexAndErrorMessage()
                                .setBatchIndex(bad.index())
                                .setBatchIndexErrorMessage(bad.message()));
            }
            return response;
        }

        private void fail(Errors error, String message) {
            answer.set(slot, ProduceAnswer.failed(partition, error, message));
        }
    }
}
