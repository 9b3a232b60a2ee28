package io.varve.serving.request.admission;

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
        if (table.isEmpty()) {
            return 0;
        }
        Optional<QuotaTable.Limit> limit = table.find(what, user, clientId);
        if (limit.isEmpty()) {
            return 0;
        }
        synchronized (meters) {
            return meters.computeIfAbsent(new Counted(limit.get().counted(), what), ignored -> new RateMeter())
                    .take(amount, limit.get().perSecond(), clock.nanoTime());
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
