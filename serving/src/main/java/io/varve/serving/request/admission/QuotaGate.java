package io.varve.serving.request.admission;

import io.varve.serving.core.admission.QuotaKey;
import io.varve.serving.kafka.wire.FetchedRecords;
import io.varve.serving.request.Answer;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.ClientQuotas;
import io.varve.serving.request.ClientRequest;
import io.varve.serving.request.RequestProcessor;
import io.varve.serving.session.ClientSession;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.protocol.ApiKeys;

/**
 * Counts what requests cost against their clients' quotas, and puts the time to wait into the answer. The work is done all the same: it is the
 * connection that then isn't read for so long (KIP-219).
 */
public final class QuotaGate implements RequestProcessor {

    private static final double NS_PER_SECOND = 1e9;
    private static final double PERCENT = 100;

    private final RequestProcessor behind;
    private final ClientQuotas quotas;
    private final BrokerServices broker;

    /** @param behind does the work */
    public QuotaGate(RequestProcessor behind, BrokerServices broker) {
        this.behind = behind;
        this.broker = broker;
        this.quotas = broker.quotas();
    }

    @Override
    public CompletableFuture<Answer> process(ClientRequest request) {
        if (quotas.isEmpty() || request.api() == ApiKeys.API_VERSIONS) {
            return behind.process(request);
        }
        long startNs = broker.clock().nanoTime();
        CompletableFuture<Answer> future = behind.process(request);
        double threadSeconds = (broker.clock().nanoTime() - startNs) / NS_PER_SECOND;
        return future.thenApply(answer -> throttled(request, answer, threadSeconds));
    }

    @Override
    public void onDisconnect(ClientSession session) {
        behind.onDisconnect(session);
    }

    @Override
    public long onConnection(String address) {
        return quotas.countConnection(address);
    }

    private Answer throttled(ClientRequest request, Answer answer, double threadSeconds) {
        long waitMs = count(request, QuotaKey.REQUEST_PERCENTAGE, threadSeconds * PERCENT);
        if (request.api() == ApiKeys.PRODUCE) {
            waitMs = Math.max(waitMs, count(request, QuotaKey.PRODUCER_BYTE_RATE, request.bytes()));
        } else if (request.api() == ApiKeys.FETCH || request.api() == ApiKeys.SHARE_FETCH) {
            waitMs = Math.max(waitMs, count(request, QuotaKey.CONSUMER_BYTE_RATE, bytesOf(answer)));
        }
        if (waitMs > 0) {
            int throttleMs = (int) waitMs;
            answer.response()
                    .ifPresent(response ->
                            response.maybeSetThrottleTimeMs(Math.max(throttleMs, response.throttleTimeMs())));
        }
        return answer;
    }

    private long count(ClientRequest request, QuotaKey what, double amount) {
        return quotas.count(what, request.user(), request.clientId(), amount);
    }

    private static long bytesOf(Answer answer) {
        return answer.response()
                .map(response -> FetchedRecords.bytes(response.data()))
                .orElse(0L);
    }
}
