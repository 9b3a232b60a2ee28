package io.varve.serving.request.data;

import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.PartitionState;
import io.varve.serving.core.fetchsession.FetchSessions;
import io.varve.serving.core.fetchsession.FetchSessions.Plan;
import io.varve.serving.core.fetchsession.FetchSessions.Refusal;
import io.varve.serving.core.fetchsession.Wanted;
import io.varve.serving.kafka.wire.FetchedRecords;
import io.varve.serving.log.PartitionLog.Isolation;
import io.varve.serving.request.Answer;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.ClientRequest;
import io.varve.serving.request.Nodes;
import io.varve.serving.request.PartitionFinder.Found;
import io.varve.serving.request.PartitionFinder.TopicKey;
import io.varve.serving.request.data.FetchPart.Key;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.message.FetchRequestData;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.FetchResponse;

/**
 * Fetch: sessions (KIP-227), then a {@link FetchTask} over the partitions. Batches go to the socket in the buffers in which the log gave them.
 */
public final class FetchHandler {

    private static final short TOPIC_ID_VERSION = 13;
    private static final short SESSION_VERSION = 7;
    private static final short ZSTD_VERSION = 10;
    private static final String ZSTD = "zstd";
    private static final short LEADER_HINT_VERSION = 12;
    private static final long SESSION_REST_MS_MIN = 120_000;
    private static final byte READ_COMMITTED = 1;
    private static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);

    private final BrokerServices broker;
    private final FetchSessions<Key> sessions;
    private final FetchMemory memory;

    /** @param memory shared with whoever else answers with records */
    public FetchHandler(BrokerServices broker, FetchMemory memory) {
        this.broker = broker;
        this.sessions = new FetchSessions<>(
                broker.settings().fetchSessionsMax(),
                SESSION_REST_MS_MIN,
                () -> ThreadLocalRandom.current().nextInt());
        this.memory = memory;
    }

    /** Handles one. */
    public CompletableFuture<Answer> handle(ClientRequest request) {
        FetchRequestData data = request.data();
        Plan<Key> plan = plan(request, data);
        if (plan instanceof Plan.Refused<Key> refused) {
            return CompletableFuture.completedFuture(Answer.of(FetchResponse.of(
                    new FetchResponseData().setErrorCode(errorOf(refused.why()).code()))));
        }
        Plan.Serve<Key> serve = (Plan.Serve<Key>) plan;
        Isolation isolation =
                data.isolationLevel() == READ_COMMITTED ? Isolation.READ_COMMITTED : Isolation.READ_UNCOMMITTED;
        return open(request, serve, data.maxWaitMs())
                .thenCompose(parts -> new FetchTask(
                                parts,
                                isolation,
                                data.minBytes(),
                                Math.min(data.maxBytes(), broker.settings().fetchBytesMax()),
                                memory,
                                broker.deadlines())
                        .start(data.maxWaitMs()))
                .thenApply(task -> answer(request, serve, isolation, task));
    }

    /** Fetch sessions in the cache. */
    public int sessions() {
        synchronized (sessions) {
            return sessions.size();
        }
    }

    private Plan<Key> plan(ClientRequest request, FetchRequestData data) {
        boolean byId = request.version() >= TOPIC_ID_VERSION;
        Map<Key, Wanted> wanted = new LinkedHashMap<>();
        for (FetchRequestData.FetchTopic topic : data.topics()) {
            TopicKey key = new TopicKey(topic.topic(), topic.topicId());
            for (FetchRequestData.FetchPartition partition : topic.partitions()) {
                wanted.put(
                        new Key(key, partition.partition()),
                        new Wanted(
                                partition.fetchOffset(),
                                partition.partitionMaxBytes(),
                                partition.currentLeaderEpoch(),
                                partition.lastFetchedEpoch()));
            }
        }
        if (request.version() < SESSION_VERSION) {
            return new Plan.Serve<>(null, true, wanted);
        }
        List<Key> forgotten = new ArrayList<>();
        for (FetchRequestData.ForgottenTopic topic : data.forgottenTopicsData()) {
            TopicKey key = new TopicKey(topic.topic(), topic.topicId());
            topic.partitions().forEach(partition -> forgotten.add(new Key(key, partition)));
        }
        long nowMs = TimeUnit.NANOSECONDS.toMillis(broker.clock().nanoTime());
        synchronized (sessions) {
            return sessions.begin(
                    new FetchSessions.Request<>(
                            data.sessionId(),
                            data.sessionEpoch(),
                            byId,
                            wanted,
                            forgotten,
                            request.session().connectionId()),
                    nowMs);
        }
    }

    private static Errors errorOf(Refusal refusal) {
        return switch (refusal) {
            case NOT_FOUND -> Errors.FETCH_SESSION_ID_NOT_FOUND;
            case BAD_EPOCH -> Errors.INVALID_FETCH_SESSION_EPOCH;
            case TOPIC_NAMING -> Errors.FETCH_SESSION_TOPIC_ID_ERROR;
        };
    }

    /** Finds the logs; waits a little for those that this broker is just taking over. */
    private CompletableFuture<List<FetchPart>> open(ClientRequest request, Plan.Serve<Key> serve, int waitMs) {
        List<FetchPart> parts = new ArrayList<>(serve.wanted().size());
        List<CompletableFuture<?>> arriving = new ArrayList<>();
        NearReads near = NearReads.of(broker, request);
        serve.wanted().forEach((key, wanted) -> {
            FetchPart part = new FetchPart(key, wanted);
            parts.add(part);
            Found found = broker.finder().now(key.topic(), key.partition());
            if (found.arriving()) {
                long takeoverMs = Math.min(waitMs, broker.settings().takeoverWaitMs());
                arriving.add(broker.finder()
                        .find(key.topic(), key.partition(), takeoverMs)
                        .thenCompose(later -> open(request, near, part, later)));
            } else if (near.mayServe(found)) {
                arriving.add(near.serve(part, found).thenCompose(later -> open(request, near, part, later)));
            } else {
                CompletableFuture<?> opened = open(request, near, part, found);
                if (!opened.isDone()) {
                    arriving.add(opened);
                }
            }
        });
        return CompletableFuture.allOf(arriving.toArray(CompletableFuture[]::new))
                .thenApply(ignored -> parts);
    }

    private CompletableFuture<?> open(ClientRequest request, NearReads near, FetchPart part, Found found) {
        if (found.log().isEmpty()) {
            part.fail(found.error());
        } else if (request.version() < ZSTD_VERSION && isZstd(found)) {
            part.fail(Errors.UNSUPPORTED_COMPRESSION_TYPE);
        } else {
            part.open(found.log().get());
            return near.preferred(part, found).thenAccept(broker -> broker.ifPresent(part::prefer));
        }
        return DONE;
    }

    /** Old clients are refused, as Kafka does, where the topic itself asks for a codec that they may not know. */
    private boolean isZstd(Found found) {
        return broker.topics()
                .rules(broker.view(), found.topic().orElseThrow())
                .compression()
                .equals(ZSTD);
    }

    private Answer answer(ClientRequest request, Plan.Serve<Key> serve, Isolation isolation, FetchTask task) {
        FetchResponseData data = new FetchResponseData().setSessionId(serve.sessionId());
        Map<TopicKey, FetchResponseData.FetchableTopicResponse> topics = new LinkedHashMap<>();
        List<Key> gaveRecords = new ArrayList<>();
        synchronized (sessions) {
            for (FetchPart part : task.parts()) {
                FetchResponseData.PartitionData partition = part.answer(isolation);
                boolean records = FetchedRecords.bytes(partition) > 0;
                boolean error = partition.errorCode() != Errors.NONE.code() || part.isDiverging();
                if (sessions.mention(
                        serve,
                        part.key(),
                        records || part.isElsewhere(),
                        error,
                        partition.highWatermark(),
                        partition.logStartOffset())) {
                    topics.computeIfAbsent(part.key().topic(), FetchHandler::topicOf)
                            .partitions()
                            .add(partition);
                }
                if (records) {
                    gaveRecords.add(part.key());
                }
            }
            sessions.end(serve, gaveRecords);
        }
        data.setResponses(new ArrayList<>(topics.values()));
        if (request.version() >= LEADER_HINT_VERSION) {
            addLeaders(request, data);
        }
        long reserved = task.reserved();
        return Answer.of(FetchResponse.of(data), () -> memory.give(reserved));
    }

    private static FetchResponseData.FetchableTopicResponse topicOf(TopicKey key) {
        return new FetchResponseData.FetchableTopicResponse()
                .setTopic(key.name())
                .setTopicId(key.id())
                .setPartitions(new ArrayList<>());
    }

    /** Tells consumers at once where the partition is now (KIP-951). */
    private void addLeaders(ClientRequest request, FetchResponseData data) {
        MetadataView view = broker.view();
        for (FetchResponseData.FetchableTopicResponse topic : data.responses()) {
            for (FetchResponseData.PartitionData partition : topic.partitions()) {
                if (partition.errorCode() == Errors.NOT_LEADER_OR_FOLLOWER.code()
                        || partition.errorCode() == Errors.FENCED_LEADER_EPOCH.code()) {
                    new TopicKey(topic.topic(), topic.topicId())
                            .in(view)
                            .flatMap(found -> view.partition(new PartitionId(found.id(), partition.partitionIndex())))
                            .ifPresent(state -> addLeader(request, data, view, state, partition));
                }
            }
        }
    }

    private static void addLeader(
            ClientRequest request,
            FetchResponseData data,
            MetadataView view,
            PartitionState state,
            FetchResponseData.PartitionData partition) {
        Nodes.living(view, state.owner(), request.session().listener()).ifPresent(node -> {
            partition.setCurrentLeader(new FetchResponseData.LeaderIdAndEpoch()
                    .setLeaderId(node.id())
                    .setLeaderEpoch(state.epoch()));
            if (data.nodeEndpoints().find(node.id()) == null) {
                data.nodeEndpoints()
                        .add(new FetchResponseData.NodeEndpoint()
                                .setNodeId(node.id())
                                .setHost(node.host())
                                .setPort(node.port())
                                .setRack(node.rack()));
            }
        });
    }
}
