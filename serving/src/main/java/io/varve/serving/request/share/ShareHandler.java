package io.varve.serving.request.share;

import io.varve.base.PartitionId;
import io.varve.serving.coordinator.ShareCoordinators;
import io.varve.serving.core.share.Acknowledgement;
import io.varve.serving.core.share.ShareKey;
import io.varve.serving.core.share.ShareSessions;
import io.varve.serving.core.share.ShareSessions.Begun;
import io.varve.serving.core.share.ShareSessions.Member;
import io.varve.serving.core.share.ShareSessions.Plan;
import io.varve.serving.core.share.ShareSessions.Refusal;
import io.varve.serving.core.share.ShareSessions.Session;
import io.varve.serving.request.Answer;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.ClientRequest;
import io.varve.serving.request.Futures;
import io.varve.serving.request.Ids;
import io.varve.serving.request.PartitionFinder.Found;
import io.varve.serving.request.PartitionFinder.TopicKey;
import io.varve.serving.request.data.FetchMemory;
import io.varve.serving.request.share.ShareFetchTask.Part;
import io.varve.serving.request.share.ShareRequests.Key;
import io.varve.serving.session.ClientSession;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.apache.kafka.common.message.ShareAcknowledgeRequestData;
import org.apache.kafka.common.message.ShareAcknowledgeResponseData;
import org.apache.kafka.common.message.ShareFetchRequestData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.ShareAcknowledgeResponse;
import org.apache.kafka.common.requests.ShareFetchResponse;

/**
 * ShareFetch and ShareAcknowledge (KIP-932): sessions, then what is said of records, then more records. What is said counts before anything is
 * acquired, so that a member can give a record back and get it again in one request.
 */
public final class ShareHandler {

    /** Counts records exactly; the other way is by whole batches. */
    private static final byte EXACTLY = 1;

    private final BrokerServices broker;
    private final ShareCoordinators coordinators;
    private final SharePartitions partitions;
    private final ShareSessions<Key> sessions;
    private final FetchMemory memory;

    /** @param memory shared with whoever else answers with records */
    public ShareHandler(BrokerServices broker, ShareCoordinators coordinators, FetchMemory memory) {
        this.broker = broker;
        this.coordinators = coordinators;
        this.partitions = new SharePartitions(broker, coordinators);
        this.sessions = new ShareSessions<>(broker.settings().shareSessionsMax());
        this.memory = memory;
    }

    /** Share sessions now. */
    public int sessions() {
        synchronized (sessions) {
            return sessions.size();
        }
    }

    /** Partitions of which share groups have anything here. */
    public int partitions() {
        return partitions.size();
    }

    // ---- ShareFetch

    /** Handles a ShareFetch. */
    public CompletableFuture<Answer> fetch(ClientRequest request) {
        ShareFetchRequestData data = request.data();
        if (!ShareRequests.namesMember(data.groupId(), data.memberId())) {
            return refusedFetch(Errors.INVALID_REQUEST);
        }
        Member member = new Member(data.groupId(), data.memberId());
        Map<Key, List<Acknowledgement>> named = ShareRequests.partitions(data);
        boolean begins = data.shareSessionEpoch() == ShareSessions.FIRST_EPOCH;
        if (begins && named.values().stream().anyMatch(said -> !said.isEmpty())) {
            return refusedFetch(Errors.INVALID_REQUEST);
        }
        Plan<Key> plan = begins
                ? begin(member, named, request)
                : proceed(member, data.shareSessionEpoch(), named.keySet(), ShareRequests.forgotten(data));
        if (plan instanceof Plan.Refused<Key> refused) {
            return refusedFetch(errorOf(refused.why()));
        }
        return acknowledge(member, named).thenCompose(acknowledged -> {
            if (plan instanceof Plan.End<Key> end) {
                release(end.session());
                return CompletableFuture.completedFuture(
                        answer(request, data, acknowledged, List.of(), false, Answer.NOTHING));
            }
            Plan.Serve<Key> serve = (Plan.Serve<Key>) plan;
            // Who renews its locks wants no more records for now.
            return data.isRenewAck()
                    ? CompletableFuture.completedFuture(
                            answer(request, data, acknowledged, List.of(), false, Answer.NOTHING))
                    : acquire(request, data, serve, acknowledged);
        });
    }

    private Plan<Key> begin(Member member, Map<Key, List<Acknowledgement>> named, ClientRequest request) {
        Begun<Key> begun;
        synchronized (sessions) {
            begun = sessions.begin(member, named.keySet(), request.session().connectionId());
        }
        begun.replaced().ifPresent(this::release);
        return begun.plan();
    }

    private Plan<Key> proceed(Member member, int epoch, Collection<Key> added, Collection<Key> forgotten) {
        synchronized (sessions) {
            return sessions.proceed(member, epoch, added, forgotten);
        }
    }

    private CompletableFuture<Answer> acquire(
            ClientRequest request, ShareFetchRequestData data, Plan.Serve<Key> serve, Map<Key, Errors> acknowledged) {
        List<Key> keys;
        synchronized (sessions) {
            keys = serve.session().partitions();
        }
        List<CompletableFuture<Part>> opening = new ArrayList<>();
        keys.forEach(key -> opening.add(open(data.groupId(), key)));
        return Futures.all(opening)
                .thenCompose(parts -> new ShareFetchTask(
                                data.memberId(),
                                parts,
                                data.maxRecords(),
                                data.shareAcquireMode() == EXACTLY,
                                Math.min(data.maxBytes(), broker.settings().fetchBytesMax()),
                                memory,
                                broker.deadlines())
                        .start(data.maxWaitMs()))
                .thenApply(task -> {
                    synchronized (sessions) {
                        sessions.served(
                                serve.session(),
                                task.parts().stream()
                                        .filter(part -> !part.acquired().isEmpty())
                                        .map(Part::key)
                                        .toList());
                    }
                    int bytes = task.bytes();
                    return answer(request, data, acknowledged, task.parts(), serve.begins(), () -> memory.give(bytes));
                });
    }

    /** Finds a partition of the group; waits a little for one that this broker is just taking over. Never fails. */
    private CompletableFuture<Part> open(String group, Key key) {
        return find(key)
                .thenCompose(found -> found.log().isEmpty()
                        ? CompletableFuture.completedFuture(new Part(key, Optional.empty(), found.error()))
                        : partitions
                                .find(group, found.log().get())
                                .handle((partition, failure) -> failure == null
                                        ? new Part(key, Optional.of(partition), Errors.NONE)
                                        : new Part(key, Optional.empty(), errorOf(failure))));
    }

    private CompletableFuture<Found> find(Key key) {
        return broker.finder()
                .find(
                        new TopicKey("", key.topic()),
                        key.partition(),
                        broker.settings().takeoverWaitMs());
    }

    private Answer answer(
            ClientRequest request,
            ShareFetchRequestData data,
            Map<Key, Errors> acknowledged,
            List<Part> parts,
            boolean all,
            Runnable whenGone) {
        ShareFetchResponse answer = empty(lockMs(data.groupId()));
        ShareAnswers.fetch(broker, request, answer.data(), acknowledged, parts, all);
        return Answer.of(answer, whenGone);
    }

    private static CompletableFuture<Answer> refusedFetch(Errors error) {
        ShareFetchResponse answer = empty(0);
        answer.data().setErrorCode(error.code()).setErrorMessage(error.message());
        return CompletableFuture.completedFuture(Answer.of(answer));
    }

    private static ShareFetchResponse empty(int lockMs) {
        return ShareFetchResponse.of(Errors.NONE, 0, new LinkedHashMap<>(), List.of(), lockMs);
    }

    // ---- ShareAcknowledge

    /** Handles a ShareAcknowledge. */
    public CompletableFuture<Answer> acknowledge(ClientRequest request) {
        ShareAcknowledgeRequestData data = request.data();
        if (!ShareRequests.namesMember(data.groupId(), data.memberId())) {
            return refusedAcknowledge(Errors.INVALID_REQUEST);
        }
        if (data.shareSessionEpoch() == ShareSessions.FIRST_EPOCH) {
            return refusedAcknowledge(Errors.INVALID_SHARE_SESSION_EPOCH);
        }
        Member member = new Member(data.groupId(), data.memberId());
        Plan<Key> plan = proceed(member, data.shareSessionEpoch(), List.of(), List.of());
        if (plan instanceof Plan.Refused<Key> refused) {
            return refusedAcknowledge(errorOf(refused.why()));
        }
        return acknowledge(member, ShareRequests.partitions(data)).thenApply(acknowledged -> {
            if (plan instanceof Plan.End<Key> end) {
                release(end.session());
            }
            return Answer.of(new ShareAcknowledgeResponse(
                    ShareAnswers.acknowledge(broker, request, lockMs(data.groupId()), acknowledged)));
        });
    }

    private static CompletableFuture<Answer> refusedAcknowledge(Errors error) {
        return CompletableFuture.completedFuture(Answer.of(new ShareAcknowledgeResponse(
                new ShareAcknowledgeResponseData().setErrorCode(error.code()).setErrorMessage(error.message()))));
    }

    // ---- both

    /** Carries out what is said of records; answers what came of it, for the partitions of which anything was said. */
    private CompletableFuture<Map<Key, Errors>> acknowledge(Member member, Map<Key, List<Acknowledgement>> named) {
        Map<Key, CompletableFuture<Errors>> results = new LinkedHashMap<>();
        named.forEach((key, said) -> {
            if (!said.isEmpty()) {
                results.put(key, acknowledge(member, key, said));
            }
        });
        return CompletableFuture.allOf(results.values().toArray(CompletableFuture[]::new))
                .thenApply(done -> {
                    Map<Key, Errors> errors = new LinkedHashMap<>();
                    results.forEach((key, result) -> errors.put(key, result.join()));
                    return errors;
                });
    }

    private CompletableFuture<Errors> acknowledge(Member member, Key key, List<Acknowledgement> said) {
        return open(member.group(), key)
                .thenCompose(part -> part.error() == Errors.NONE
                        ? part.partition().acknowledge(member.id(), said)
                        : CompletableFuture.completedFuture(part.error()));
    }

    private int lockMs(String group) {
        return coordinators.settings(group).limits().lockMs();
    }

    private static Errors errorOf(Refusal refusal) {
        return switch (refusal) {
            case NOT_FOUND -> Errors.SHARE_SESSION_NOT_FOUND;
            case BAD_EPOCH -> Errors.INVALID_SHARE_SESSION_EPOCH;
            case TOO_MANY -> Errors.SHARE_SESSION_LIMIT_REACHED;
        };
    }

    private static Errors errorOf(Throwable failure) {
        return Errors.forException(
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure);
    }

    /** A connection is gone, and with it the sessions of those who used it. */
    public void onDisconnect(ClientSession gone) {
        List<Session<Key>> ended;
        synchronized (sessions) {
            ended = sessions.onDisconnect(gone.connectionId());
        }
        ended.forEach(this::release);
    }

    /** Lets go of what a session's member has. */
    private void release(Session<Key> session) {
        String group = session.member().group();
        List<ShareKey> keys = session.partitions().stream()
                .map(key -> new ShareKey(group, new PartitionId(Ids.fromKafka(key.topic()), key.partition())))
                .toList();
        partitions.releaseAll(session.member().id(), keys);
        boolean last;
        synchronized (sessions) {
            last = !sessions.hasAny(group);
        }
        if (last) {
            partitions.forget(group);
        }
    }
}
