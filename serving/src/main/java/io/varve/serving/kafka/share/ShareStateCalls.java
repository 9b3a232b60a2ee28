package io.varve.serving.kafka.share;

import io.varve.base.PartitionId;
import io.varve.metadata.model.InternalTopics;
import io.varve.metadata.model.PartitionState;
import io.varve.serving.kafka.runtime.Answers;
import io.varve.serving.kafka.runtime.BrokerClient;
import io.varve.serving.kafka.runtime.CoordinatorFinder;
import java.net.InetAddress;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.network.ClientInformation;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.coordinator.share.ShareCoordinator;
import org.apache.kafka.server.share.SharePartitionKey;

/**
 * The way to the share coordinator of a partition, at this broker or another. Asks again while the coordinator is being found, loaded or moved:
 * every one of its requests may be carried out twice. Safe for any thread.
 */
final class ShareStateCalls {

    private static final long RETRY_FIRST_MS = 20;
    private static final long RETRY_LAST_MS = 500;

    /** About seven seconds in all. */
    private static final int ATTEMPTS_MAX = 18;

    private final CoordinatorFinder finder;
    private final int brokerId;
    private final Supplier<Optional<ShareCoordinator>> here;
    private final BrokerClient brokers;
    private final ScheduledExecutorService threads;

    /** @param here the coordinator of this broker, empty while there is none */
    ShareStateCalls(
            CoordinatorFinder finder,
            int brokerId,
            Supplier<Optional<ShareCoordinator>> here,
            BrokerClient brokers,
            ScheduledExecutorService threads) {
        this.finder = finder;
        this.brokerId = brokerId;
        this.here = here;
        this.brokers = brokers;
        this.threads = threads;
    }

    /**
     * One kind of request.
     *
     * @param api which
     * @param request the request for another broker
     * @param local the same for the coordinator here
     * @param error the code in an answer about one partition
     * @param failed the answer with a code
     */
    record Call<D extends ApiMessage>(
            ApiKeys api,
            Supplier<AbstractRequest.Builder<? extends AbstractRequest>> request,
            BiFunction<ShareCoordinator, RequestContext, CompletableFuture<D>> local,
            Function<D, Errors> error,
            Function<Errors, D> failed) {}

    /** Asks about one partition. Never fails. */
    <D extends ApiMessage> CompletableFuture<D> ask(String group, Uuid topic, int partition, Call<D> call) {
        CompletableFuture<D> answer = new CompletableFuture<>();
        attempt(SharePartitionKey.asCoordinatorKey(group, topic, partition), call, 1, RETRY_FIRST_MS, answer);
        return answer;
    }

    private <D extends ApiMessage> void attempt(
            String key, Call<D> call, int number, long waitMs, CompletableFuture<D> answer) {
        once(key, call).whenComplete((data, thrown) -> {
            D got = thrown == null ? data : call.failed.apply(Answers.errorOf(thrown));
            if (!mayPass(call.error.apply(got)) || number >= ATTEMPTS_MAX) {
                answer.complete(got);
                return;
            }
            try {
                threads.schedule(
                        () -> attempt(key, call, number + 1, Math.min(waitMs * 2, RETRY_LAST_MS), answer),
                        waitMs,
                        TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException closed) {
                answer.complete(got);
            }
        });
    }

    private static boolean mayPass(Errors error) {
        return switch (error) {
            case NOT_COORDINATOR,
                    COORDINATOR_NOT_AVAILABLE,
                    COORDINATOR_LOAD_IN_PROGRESS,
                    NETWORK_EXCEPTION,
                    REQUEST_TIMED_OUT -> true;
            default -> false;
        };
    }

    private <D extends ApiMessage> CompletableFuture<D> once(String key, Call<D> call) {
        return finder.ensure(InternalTopics.SHARE_GROUP_STATE)
                .handle((topic, refused) -> refused == null)
                .thenCompose(there -> {
                    int owner = finder.partitionFor(InternalTopics.SHARE_GROUP_STATE, key)
                            .map(PartitionState::owner)
                            .orElse(PartitionState.NO_OWNER);
                    if (!there || owner == PartitionState.NO_OWNER) {
                        return CompletableFuture.completedFuture(call.failed.apply(Errors.COORDINATOR_NOT_AVAILABLE));
                    }
                    return owner == brokerId ? askHere(call) : askAt(owner, call);
                });
    }

    private <D extends ApiMessage> CompletableFuture<D> askHere(Call<D> call) {
        Optional<ShareCoordinator> coordinator = here.get();
        return coordinator.isEmpty()
                ? CompletableFuture.completedFuture(call.failed.apply(Errors.COORDINATOR_NOT_AVAILABLE))
                : call.local.apply(coordinator.get(), contextOf(call.api));
    }

    @SuppressWarnings("unchecked")
    private <D extends ApiMessage> CompletableFuture<D> askAt(int owner, Call<D> call) {
        return brokers.send(owner, call.request.get())
                .handle((response, failed) ->
                        failed == null ? (D) response.data() : call.failed.apply(Errors.NETWORK_EXCEPTION));
    }

    /** As if it had asked itself. */
    private static RequestContext contextOf(ApiKeys api) {
        return new RequestContext(
                new RequestHeader(api, api.latestVersion(), "", 0),
                "broker",
                InetAddress.getLoopbackAddress(),
                KafkaPrincipal.ANONYMOUS,
                new ListenerName("broker"),
                SecurityProtocol.PLAINTEXT,
                ClientInformation.EMPTY,
                false);
    }

    /** The same bits. */
    static Uuid topicOf(PartitionId partition) {
        return new Uuid(partition.topic().high(), partition.topic().low());
    }
}
