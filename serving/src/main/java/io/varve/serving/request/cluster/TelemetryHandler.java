package io.varve.serving.request.cluster;

import io.varve.metadata.api.MetadataView;
import io.varve.serving.core.config.NamedConfigs;
import io.varve.serving.core.telemetry.ClientFacts;
import io.varve.serving.core.telemetry.Reports;
import io.varve.serving.core.telemetry.Reports.Verdict;
import io.varve.serving.core.telemetry.Subscription;
import io.varve.serving.request.Answer;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.ClientRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.GetTelemetrySubscriptionsRequestData;
import org.apache.kafka.common.message.GetTelemetrySubscriptionsResponseData;
import org.apache.kafka.common.message.PushTelemetryRequestData;
import org.apache.kafka.common.message.PushTelemetryResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.GetTelemetrySubscriptionsResponse;
import org.apache.kafka.common.requests.PushTelemetryResponse;

/**
 * GetTelemetrySubscriptions and PushTelemetry (KIP-714), as Kafka answers them without a receiver: not advertised, so that clients don't ask
 * by themselves; whoever asks is told its subscription and held to it, and what it reports goes nowhere.
 */
public final class TelemetryHandler {

    private static final int CLIENTS_MAX = 16_384;
    private static final int REPORT_BYTES_MAX = 1 << 20;
    private static final byte NO_CODEC = 0;

    /** Kafka's numbers of zstd, LZ4, gzip and snappy, in the order in which they are preferred. */
    private static final List<Byte> CODECS = List.of((byte) 4, (byte) 3, (byte) 1, (byte) 2);

    private final BrokerServices broker;
    private final Reports reports = new Reports(CLIENTS_MAX);
    private volatile Parsed parsed = new Parsed(null, List.of());

    /** @param broker surroundings */
    public TelemetryHandler(BrokerServices broker) {
        this.broker = broker;
    }

    private record Parsed(SortedMap<String, String> configs, List<Subscription> subscriptions) {}

    /** Handles a GetTelemetrySubscriptions. */
    public Answer subscriptions(ClientRequest request) {
        GetTelemetrySubscriptionsRequestData data = request.data();
        Uuid asked = data.clientInstanceId();
        Uuid client = asked.equals(Uuid.ZERO_UUID) ? Uuid.randomUuid() : asked;
        Subscription subscription = subscriptionOf(request, client);
        Verdict verdict;
        synchronized (reports) {
            verdict = reports.onAsk(client.toString(), subscription, nowMs());
        }
        if (verdict != Verdict.OK) {
            return Answer.of(request.parsed().body().getErrorResponse(0, Errors.THROTTLING_QUOTA_EXCEEDED.exception()));
        }
        return Answer.of(new GetTelemetrySubscriptionsResponse(new GetTelemetrySubscriptionsResponseData()
                .setClientInstanceId(client)
                .setSubscriptionId(subscription.id(client.toString()))
                .setAcceptedCompressionTypes(CODECS)
                .setPushIntervalMs(subscription.intervalMs())
                .setTelemetryMaxBytes(REPORT_BYTES_MAX)
                .setDeltaTemporality(true)
                .setRequestedMetrics(subscription.onWire())));
    }

    /** Handles a PushTelemetry. */
    public Answer push(ClientRequest request) {
        return Answer.of(new PushTelemetryResponse(
                new PushTelemetryResponseData().setErrorCode(check(request).code())));
    }

    private Errors check(ClientRequest request) {
        PushTelemetryRequestData data = request.data();
        if (Uuid.RESERVED.contains(data.clientInstanceId())) {
            return Errors.INVALID_REQUEST;
        }
        String client = data.clientInstanceId().toString();
        Subscription subscription = subscriptionOf(request, data.clientInstanceId());
        synchronized (reports) {
            Verdict verdict = reports.onReport(client, subscription, data.terminating(), nowMs());
            if (verdict != Verdict.OK) {
                return verdict == Verdict.EARLY ? Errors.THROTTLING_QUOTA_EXCEEDED : Errors.INVALID_REQUEST;
            }
            if (data.subscriptionId() != subscription.id(client)) {
                reports.onStale(client);
                return Errors.UNKNOWN_SUBSCRIPTION_ID;
            }
        }
        if (data.compressionType() != NO_CODEC && !CODECS.contains(data.compressionType())) {
            return Errors.UNSUPPORTED_COMPRESSION_TYPE;
        }
        return data.metrics() != null && data.metrics().remaining() > REPORT_BYTES_MAX
                ? Errors.TELEMETRY_TOO_LARGE
                : Errors.NONE;
    }

    private Subscription subscriptionOf(ClientRequest request, Uuid client) {
        ClientFacts facts = new ClientFacts(
                client.toString(),
                request.clientId(),
                request.session().software().name(),
                request.session().software().version(),
                request.session().address().getHostAddress(),
                request.session().port());
        return Subscription.of(facts, configured());
    }

    private List<Subscription> configured() {
        MetadataView view = broker.view();
        Parsed now = parsed;
        if (now.configs != view.clusterConfigs()) {
            List<Subscription> subscriptions = new ArrayList<>();
            for (String name : NamedConfigs.CLIENT_METRICS.names(view.clusterConfigs())) {
                subscriptions.add(Subscription.parse(NamedConfigs.CLIENT_METRICS.of(name, view.clusterConfigs())));
            }
            now = new Parsed(view.clusterConfigs(), List.copyOf(subscriptions));
            parsed = now;
        }
        return now.subscriptions;
    }

    private long nowMs() {
        return TimeUnit.NANOSECONDS.toMillis(broker.clock().nanoTime());
    }
}
