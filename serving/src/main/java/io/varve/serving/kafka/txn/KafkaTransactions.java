package io.varve.serving.kafka.txn;

import io.varve.base.Clock;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.InternalTopics;
import io.varve.metadata.model.Topic;
import io.varve.serving.coordinator.TransactionCoordinators;
import io.varve.serving.core.txn.Txn;
import io.varve.serving.core.txn.TxnDecision;
import io.varve.serving.core.txn.TxnError;
import io.varve.serving.core.txn.TxnPartition;
import io.varve.serving.core.txn.TxnRules;
import io.varve.serving.kafka.runtime.Answers;
import io.varve.serving.kafka.runtime.CoordinatorFinder;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.message.AddOffsetsToTxnRequestData;
import org.apache.kafka.common.message.AddOffsetsToTxnResponseData;
import org.apache.kafka.common.message.AddPartitionsToTxnRequestData;
import org.apache.kafka.common.message.AddPartitionsToTxnRequestData.AddPartitionsToTxnTransaction;
import org.apache.kafka.common.message.AddPartitionsToTxnResponseData;
import org.apache.kafka.common.message.AddPartitionsToTxnResponseData.AddPartitionsToTxnResultCollection;
import org.apache.kafka.common.message.DescribeTransactionsRequestData;
import org.apache.kafka.common.message.DescribeTransactionsResponseData;
import org.apache.kafka.common.message.EndTxnRequestData;
import org.apache.kafka.common.message.EndTxnResponseData;
import org.apache.kafka.common.message.InitProducerIdRequestData;
import org.apache.kafka.common.message.InitProducerIdResponseData;
import org.apache.kafka.common.message.ListTransactionsRequestData;
import org.apache.kafka.common.message.ListTransactionsResponseData;
import org.apache.kafka.common.message.WriteTxnMarkersRequestData;
import org.apache.kafka.common.message.WriteTxnMarkersResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AddPartitionsToTxnRequest;
import org.apache.kafka.common.requests.AddPartitionsToTxnResponse;
import org.apache.kafka.common.requests.RequestContext;

/** {@link TransactionCoordinators} by our own coordinator. Finds and checks; what is decided is decided in {@link TxnRules}. */
final class KafkaTransactions implements TransactionCoordinators {

    private static final int BATCHES_SINCE_VERSION = 4;
    private static final int FENCED_SINCE_VERSION = 2;
    private static final int INIT_FENCED_SINCE_VERSION = 4;
    private static final int EPOCH_PER_TRANSACTION_SINCE_VERSION = 5;
    private static final short PLAIN = 0;

    /** How long the answer to EndTxn waits for the markers. */
    private static final long MARKERS_WAIT_MS = 500;

    private final TxnHost host;
    private final ProducerIds producerIds;
    private final TxnVerifier verifier;
    private final MarkerRequests markers;
    private final CoordinatorFinder finder;
    private final Supplier<MetadataView> metadata;
    private final TxnOptions options;
    private final Clock clock;

    KafkaTransactions(
            TxnHost host,
            ProducerIds producerIds,
            TxnVerifier verifier,
            MarkerRequests markers,
            CoordinatorFinder finder,
            Supplier<MetadataView> metadata,
            TxnOptions options,
            Clock clock) {
        this.host = host;
        this.producerIds = producerIds;
        this.verifier = verifier;
        this.markers = markers;
        this.finder = finder;
        this.metadata = metadata;
        this.options = options;
        this.clock = clock;
    }

    // ---- InitProducerId
    // --------------------------------------------------------------------------------------------------

    @Override
    public CompletableFuture<InitProducerIdResponseData> initProducerId(
            RequestContext context, InitProducerIdRequestData request) {
        Errors invalid = check(request);
        if (invalid != Errors.NONE) {
            return CompletableFuture.completedFuture(initialised(invalid, Txn.NONE, Txn.NO_EPOCH));
        }
        if (request.transactionalId() == null) {
            return Answers.or(
                    producerIds
                            .next()
                            .exceptionallyCompose(failed ->
                                    CompletableFuture.failedFuture(Errors.COORDINATOR_NOT_AVAILABLE.exception()))
                            .thenApply(id -> initialised(Errors.NONE, id, PLAIN)),
                    error -> initialised(error, Txn.NONE, Txn.NO_EPOCH));
        }
        CompletableFuture<TxnDecision> decision = host.decide(
                "init-producer-id",
                request.transactionalId(),
                (current, freshId) -> TxnRules.initialise(
                        request.transactionalId(),
                        current,
                        request.transactionTimeoutMs(),
                        request.producerId(),
                        request.producerEpoch(),
                        freshId,
                        clock.wallTimeMs()));
        return Answers.or(
                decision.thenApply(d -> initialised(
                        TxnErrors.fencedSince(
                                INIT_FENCED_SINCE_VERSION, context.apiVersion(), TxnErrors.codeOf(d.error())),
                        producerIdIn(d),
                        epochIn(d))),
                error -> initialised(error, Txn.NONE, Txn.NO_EPOCH));
    }

    private Errors check(InitProducerIdRequestData request) {
        if (request.transactionalId() == null) {
            return Errors.NONE;
        }
        boolean half = (request.producerId() == Txn.NONE) != (request.producerEpoch() == Txn.NO_EPOCH);
        if (request.transactionalId().isEmpty() || half) {
            return Errors.INVALID_REQUEST;
        }
        int timeoutMs = request.transactionTimeoutMs();
        return timeoutMs <= 0 || timeoutMs > options.timeoutMaxMs() ? Errors.INVALID_TRANSACTION_TIMEOUT : Errors.NONE;
    }

    private static InitProducerIdResponseData initialised(Errors error, long producerId, short epoch) {
        return new InitProducerIdResponseData()
                .setErrorCode(error.code())
                .setProducerId(error == Errors.NONE ? producerId : Txn.NONE)
                .setProducerEpoch(error == Errors.NONE ? epoch : Txn.NO_EPOCH);
    }

    private static long producerIdIn(TxnDecision decision) {
        return decision instanceof TxnDecision.Change change
                ? change.producerId()
                : ((TxnDecision.Answer) decision).producerId();
    }

    private static short epochIn(TxnDecision decision) {
        return decision instanceof TxnDecision.Change change ? change.epoch() : ((TxnDecision.Answer) decision).epoch();
    }

    // ---- AddPartitionsToTxn, AddOffsetsToTxn
    // -----------------------------------------------------------------------------

    @Override
    public CompletableFuture<AddPartitionsToTxnResponseData> addPartitionsToTxn(
            RequestContext context, AddPartitionsToTxnRequestData request) {
        int version = context.apiVersion();
        if (version < BATCHES_SINCE_VERSION) {
            List<TopicPartition> partitions = AddPartitionsToTxnRequest.getPartitions(request.v3AndBelowTopics());
            return addKnown(
                            request.v3AndBelowTransactionalId(),
                            request.v3AndBelowProducerId(),
                            request.v3AndBelowProducerEpoch(),
                            partitions,
                            PLAIN)
                    .thenApply(errors -> {
                        errors.replaceAll((p, error) -> TxnErrors.fencedSince(FENCED_SINCE_VERSION, version, error));
                        return new AddPartitionsToTxnResponseData()
                                .setResultsByTopicV3AndBelow(AddPartitionsToTxnResponse.resultForTransaction("", errors)
                                        .topicResults());
                    });
        }
        List<CompletableFuture<AddPartitionsToTxnResponseData.AddPartitionsToTxnResult>> results = new ArrayList<>();
        for (AddPartitionsToTxnTransaction txn : request.transactions()) {
            results.add(addOrVerify(txn, version)
                    .thenApply(
                            errors -> AddPartitionsToTxnResponse.resultForTransaction(txn.transactionalId(), errors)));
        }
        return Answers.all(results).thenApply(all -> {
            AddPartitionsToTxnResultCollection collection = new AddPartitionsToTxnResultCollection();
            collection.addAll(all);
            return new AddPartitionsToTxnResponseData().setResultsByTransaction(collection);
        });
    }

    private CompletableFuture<Map<TopicPartition, Errors>> addOrVerify(AddPartitionsToTxnTransaction txn, int version) {
        List<TopicPartition> partitions = AddPartitionsToTxnRequest.getPartitions(txn.topics());
        if (txn.verifyOnly()) {
            return verifyHere(txn.transactionalId(), txn.producerId(), txn.producerEpoch(), partitions);
        }
        short clientVersion = version >= EPOCH_PER_TRANSACTION_SINCE_VERSION ? Txn.EPOCH_PER_TRANSACTION : PLAIN;
        return addKnown(txn.transactionalId(), txn.producerId(), txn.producerEpoch(), partitions, clientVersion);
    }

    /** All or nothing: if one of the partitions doesn't exist none is added. */
    private CompletableFuture<Map<TopicPartition, Errors>> addKnown(
            String id, long producerId, short epoch, List<TopicPartition> partitions, short clientVersion) {
        MetadataView view = metadata.get();
        Map<TopicPartition, Errors> refused = new LinkedHashMap<>();
        boolean unknown = false;
        for (TopicPartition partition : partitions) {
            boolean exists = view.topic(partition.topic())
                    .filter(topic -> partition.partition() >= 0 && partition.partition() < topic.partitions())
                    .isPresent();
            unknown |= !exists;
            refused.put(partition, exists ? Errors.OPERATION_NOT_ATTEMPTED : Errors.UNKNOWN_TOPIC_OR_PARTITION);
        }
        return unknown
                ? CompletableFuture.completedFuture(refused)
                : addHere(id, producerId, epoch, partitions, clientVersion);
    }

    /** At this broker's coordinator, whether or not the partitions exist. */
    CompletableFuture<Map<TopicPartition, Errors>> addHere(
            String id, long producerId, short epoch, Collection<TopicPartition> partitions, short clientVersion) {
        if (id == null || id.isEmpty()) {
            return CompletableFuture.completedFuture(sameFor(partitions, Errors.INVALID_REQUEST));
        }
        List<TxnPartition> added = partitions.stream()
                .map(p -> new TxnPartition(p.topic(), p.partition()))
                .toList();
        CompletableFuture<TxnDecision> decision = host.decide(
                "add-partitions",
                id,
                (current, freshId) ->
                        TxnRules.addPartitions(current, producerId, epoch, added, clientVersion, clock.wallTimeMs()));
        return Answers.or(
                decision.thenApply(d -> sameFor(partitions, TxnErrors.codeOf(d.error()))),
                error -> sameFor(partitions, error));
    }

    /** At this broker's coordinator. */
    CompletableFuture<Map<TopicPartition, Errors>> verifyHere(
            String id, long producerId, short epoch, Collection<TopicPartition> partitions) {
        if (id == null || id.isEmpty()) {
            return CompletableFuture.completedFuture(sameFor(partitions, Errors.INVALID_REQUEST));
        }
        List<TxnPartition> asked = partitions.stream()
                .map(p -> new TxnPartition(p.topic(), p.partition()))
                .toList();
        return Answers.or(
                host.read(id).thenApply(current -> {
                    SortedMap<TxnPartition, TxnError> answers = TxnRules.verify(current, producerId, epoch, asked);
                    Map<TopicPartition, Errors> errors = new LinkedHashMap<>();
                    answers.forEach((p, error) ->
                            errors.put(new TopicPartition(p.topic(), p.index()), TxnErrors.codeOf(error)));
                    return errors;
                }),
                error -> sameFor(partitions, error));
    }

    private static Map<TopicPartition, Errors> sameFor(Collection<TopicPartition> partitions, Errors error) {
        Map<TopicPartition, Errors> errors = new LinkedHashMap<>();
        partitions.forEach(p -> errors.put(p, error));
        return errors;
    }

    @Override
    public CompletableFuture<AddOffsetsToTxnResponseData> addOffsetsToTxn(
            RequestContext context, AddOffsetsToTxnRequestData request) {
        Optional<Topic> offsets = metadata.get().topic(InternalTopics.CONSUMER_OFFSETS);
        if (offsets.isEmpty()) {
            // Nobody has looked for the group's coordinator yet: create its topic, and have the client try again.
            return finder.ensure(InternalTopics.CONSUMER_OFFSETS)
                    .handle((topic, failed) ->
                            new AddOffsetsToTxnResponseData().setErrorCode(Errors.COORDINATOR_NOT_AVAILABLE.code()));
        }
        TopicPartition partition = new TopicPartition(
                InternalTopics.CONSUMER_OFFSETS,
                CoordinatorFinder.partitionOf(request.groupId(), offsets.get().partitions()));
        return addHere(
                        request.transactionalId(),
                        request.producerId(),
                        request.producerEpoch(),
                        List.of(partition),
                        PLAIN)
                .thenApply(errors -> new AddOffsetsToTxnResponseData()
                        .setErrorCode(
                                TxnErrors.fencedSince(FENCED_SINCE_VERSION, context.apiVersion(), errors.get(partition))
                                        .code()));
    }

    // ---- EndTxn
    // ----------------------------------------------------------------------------------------------------------

    @Override
    public CompletableFuture<EndTxnResponseData> endTxn(RequestContext context, EndTxnRequestData request) {
        if (request.transactionalId() == null || request.transactionalId().isEmpty()) {
            return CompletableFuture.completedFuture(ended(Errors.INVALID_REQUEST, Txn.NONE, Txn.NO_EPOCH));
        }
        short clientVersion =
                context.apiVersion() >= EPOCH_PER_TRANSACTION_SINCE_VERSION ? Txn.EPOCH_PER_TRANSACTION : PLAIN;
        CompletableFuture<TxnDecision> decision = host.decide(
                "end-txn",
                request.transactionalId(),
                (current, freshId) -> TxnRules.end(
                        current,
                        request.producerId(),
                        request.producerEpoch(),
                        request.committed(),
                        clientVersion,
                        freshId,
                        clock.wallTimeMs()));
        // What was committed should be there for whoever hears so, and the producer's next transaction should not meet
        // its last one: clients
        // pause for up to seconds when it does. The decision is durable; only the answer waits, and not for long.
        CompletableFuture<TxnDecision> carriedOut = decision.thenCompose(
                d -> host.carriedOut(request.transactionalId(), MARKERS_WAIT_MS).thenApply(done -> d));
        return Answers.or(
                carriedOut.thenApply(d -> ended(
                        TxnErrors.fencedSince(FENCED_SINCE_VERSION, context.apiVersion(), TxnErrors.codeOf(d.error())),
                        producerIdIn(d),
                        epochIn(d))),
                error -> ended(error, Txn.NONE, Txn.NO_EPOCH));
    }

    private static EndTxnResponseData ended(Errors error, long producerId, short epoch) {
        return new EndTxnResponseData()
                .setErrorCode(error.code())
                .setProducerId(error == Errors.NONE ? producerId : Txn.NONE)
                .setProducerEpoch(error == Errors.NONE ? epoch : Txn.NO_EPOCH);
    }

    // ---- the rest
    // --------------------------------------------------------------------------------------------------------

    @Override
    public CompletableFuture<WriteTxnMarkersResponseData> writeTxnMarkers(
            RequestContext context, WriteTxnMarkersRequestData request) {
        return markers.write(request);
    }

    @Override
    public CompletableFuture<DescribeTransactionsResponseData> describeTransactions(
            RequestContext context, DescribeTransactionsRequestData request) {
        List<CompletableFuture<DescribeTransactionsResponseData.TransactionState>> states = new ArrayList<>();
        for (String id : request.transactionalIds()) {
            states.add(
                    id.isEmpty()
                            ? CompletableFuture.completedFuture(TxnDescriptions.failed(id, Errors.INVALID_REQUEST))
                            : Answers.or(
                                    host.read(id).thenApply(found -> TxnDescriptions.describe(id, found)),
                                    error -> TxnDescriptions.failed(id, error)));
        }
        return Answers.all(states).thenApply(all -> new DescribeTransactionsResponseData().setTransactionStates(all));
    }

    @Override
    public CompletableFuture<ListTransactionsResponseData> listTransactions(
            RequestContext context, ListTransactionsRequestData request) {
        Optional<TxnFilter> filter = TxnFilter.of(request);
        if (filter.isEmpty()) {
            return CompletableFuture.completedFuture(
                    new ListTransactionsResponseData().setErrorCode(Errors.INVALID_REGULAR_EXPRESSION.code()));
        }
        List<CompletableFuture<List<Txn>>> shards = host.readAll();
        List<CompletableFuture<TxnDescriptions.Listed>> listed = new ArrayList<>();
        for (CompletableFuture<List<Txn>> shard : shards) {
            listed.add(Answers.or(
                    shard.thenApply(all -> TxnDescriptions.list(all, filter.get(), clock.wallTimeMs())),
                    error -> new TxnDescriptions.Listed(List.of(), error)));
        }
        return Answers.all(listed).thenApply(all -> TxnDescriptions.merge(all, filter.get()));
    }

    @Override
    public CompletableFuture<Map<TopicPartition, Errors>> verify(
            String transactionalId,
            long producerId,
            short producerEpoch,
            Collection<TopicPartition> partitions,
            Verification verification) {
        return verifier.verify(this, transactionalId, producerId, producerEpoch, partitions, verification);
    }
}
