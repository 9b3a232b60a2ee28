package io.varve.serving.request;

import io.varve.base.Clock;
import io.varve.metadata.api.MetadataClient;
import io.varve.serving.core.admission.QuotaEntity;
import io.varve.serving.core.admission.QuotaKey;
import io.varve.serving.core.admission.QuotaTable;
import io.varve.serving.core.admission.RateMeter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;

/**
 * Holds clients to their quotas, each broker for itself as in Kafka. While there are none, a request costs one comparison. Safe for any thread.
 */
public final class ClientQuotas {

    private static final int METERS_MAX = 10_000;

    /** As long as Kafka's window of eleven samples of a second: a topic of many partitions is made at once, and paid for afterwards. */
    private static final double MUTATION_BURST_SECONDS = 11;

    private final MetadataClient metadata;
    private final Clock clock;
    private final LinkedHashMap<Counted, RateMeter> meters = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Counted, RateMeter> eldest) {
            return size() > METERS_MAX;
        }
    };

    private volatile Parsed parsed = new Parsed(null, QuotaTable.EMPTY);

    /** @param metadata where quotas live */
    public ClientQuotas(MetadataClient metadata, Clock clock) {
        this.metadata = metadata;
        this.clock = clock;
    }

    private record Counted(QuotaEntity whom, QuotaKey what) {}

    private record Parsed(SortedMap<String, String> configs, QuotaTable table) {}

    /** Counts, and answers how many milliseconds the client is to wait. */
    public long count(QuotaKey what, String user, String clientId, double amount) {
        QuotaTable table = table();
        return table.isEmpty() ? 0 : count(what, table.find(what, user, clientId), amount);
    }

    /** Counts a connection from {@code address}, and answers how many milliseconds it is to wait. */
    public long countConnection(String address) {
        QuotaTable table = table();
        QuotaKey what = QuotaKey.CONNECTION_CREATION_RATE;
        return table.isEmpty() ? 0 : count(what, table.findForAddress(what, address), 1);
    }

    private long count(QuotaKey what, Optional<QuotaTable.Limit> limit, double amount) {
        if (limit.isEmpty()) {
            return 0;
        }
        synchronized (meters) {
            return meter(what, limit.get()).take(amount, limit.get().perSecond(), clock.nanoTime());
        }
    }

    private RateMeter meter(QuotaKey what, QuotaTable.Limit limit) {
        return meters.computeIfAbsent(
                new Counted(limit.counted(), what),
                counted -> new RateMeter(what == QuotaKey.CONTROLLER_MUTATION_RATE ? MUTATION_BURST_SECONDS : 1));
    }

    /**
     * What one request may change of the metadata.
     *
     * @param request whose
     * @param refusesSince from this version on a change over the quota is refused; before it is carried out, and the client waits afterwards
     */
    public Mutations mutations(ClientRequest request, int refusesSince) {
        QuotaTable table = table();
        Optional<QuotaTable.Limit> limit = table.isEmpty()
                ? Optional.empty()
                : table.find(QuotaKey.CONTROLLER_MUTATION_RATE, request.user(), request.clientId());
        return new Mutations(limit, request.version() >= refusesSince);
    }

    /** Counts the partitions that one request makes and deletes (KIP-599). One thread at a time. */
    public final class Mutations {

        private final Optional<QuotaTable.Limit> limit;
        private final boolean refuses;
        private long waitMs;

        private Mutations(Optional<QuotaTable.Limit> limit, boolean refuses) {
            this.limit = limit;
            this.refuses = refuses;
        }

        /** Counts {@code partitions}. Answers whether they may be made or deleted; if not, nothing was counted. */
        public synchronized boolean allows(int partitions) {
            if (limit.isEmpty()) {
                return true;
            }
            double perSecond = limit.get().perSecond();
            synchronized (meters) {
                RateMeter meter = meter(QuotaKey.CONTROLLER_MUTATION_RATE, limit.get());
                waitMs = refuses
                        ? meter.takeIfPaid(partitions, perSecond, clock.nanoTime())
                        : meter.take(partitions, perSecond, clock.nanoTime());
            }
            return !refuses || waitMs == 0;
        }

        /** How many milliseconds the client is to wait. */
        public synchronized int waitMs() {
            return (int) waitMs;
        }
    }

    /** Whether anybody has any. */
    public boolean isEmpty() {
        return table().isEmpty();
    }

    private QuotaTable table() {
        SortedMap<String, String> configs = metadata.view().clusterConfigs();
        Parsed now = parsed;
        if (now.configs != configs) {
            now = new Parsed(configs, QuotaTable.of(configs));
            parsed = now;
        }
        return now.table;
    }
}
