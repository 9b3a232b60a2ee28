package io.varve.serving.core.admission;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * All quotas of a cluster. They live in its dynamic configuration, one key for each: {@code client.quota/ENTITY/KEY}. Immutable.
 */
public final class QuotaTable {

    /** No quotas. */
    public static final QuotaTable EMPTY = new QuotaTable(new TreeMap<>());

    private static final String PREFIX = "client.quota/";

    private final SortedMap<QuotaEntity, Map<QuotaKey, Double>> quotas;

    private QuotaTable(SortedMap<QuotaEntity, Map<QuotaKey, Double>> quotas) {
        this.quotas = quotas;
    }

    /** Those in a cluster's configuration; what isn't a quota is passed over. */
    public static QuotaTable of(SortedMap<String, String> clusterConfigs) {
        SortedMap<QuotaEntity, Map<QuotaKey, Double>> quotas = new TreeMap<>();
        for (Map.Entry<String, String> config : clusterConfigs.tailMap(PREFIX).entrySet()) {
            if (!config.getKey().startsWith(PREFIX)) {
                break;
            }
            String rest = config.getKey().substring(PREFIX.length());
            int slash = rest.indexOf('/');
            Optional<QuotaKey> key = QuotaKey.of(rest.substring(slash + 1));
            if (slash > 0 && key.isPresent()) {
                quotas.computeIfAbsent(
                                QuotaEntity.decode(rest.substring(0, slash)), entity -> new EnumMap<>(QuotaKey.class))
                        .put(key.get(), Double.parseDouble(config.getValue()));
            }
        }
        return quotas.isEmpty() ? EMPTY : new QuotaTable(quotas);
    }

    /** The configuration key under which a quota lives. */
    public static String configKey(QuotaEntity entity, QuotaKey key) {
        return PREFIX + entity.encoded() + '/' + key.kafkaName();
    }

    /** All of them. */
    public SortedMap<QuotaEntity, Map<QuotaKey, Double>> all() {
        return Collections.unmodifiableSortedMap(quotas);
    }

    /** Whether there are none. */
    public boolean isEmpty() {
        return quotas.isEmpty();
    }

    /**
     * The limit that holds for a client, and for whom it is counted together.
     *
     * @param counted those with the same share one count
     * @param perSecond the limit
     */
    public record Limit(QuotaEntity counted, double perSecond) {}

    /** The most special limit for a client, in Kafka's order: user before client id, a name before the default. */
    public Optional<Limit> find(QuotaKey key, String user, String clientId) {
        if (quotas.isEmpty()) {
            return Optional.empty();
        }
        Optional<String> byUser = Optional.of(user);
        Optional<String> byClient = Optional.of(clientId);
        Optional<String> byDefault = Optional.of(QuotaEntity.DEFAULT);
        List<Candidate> candidates = new ArrayList<>(8);
        QuotaEntity both = new QuotaEntity(byUser, byClient);
        QuotaEntity userOnly = new QuotaEntity(byUser, Optional.empty());
        QuotaEntity clientOnly = new QuotaEntity(Optional.empty(), byClient);
        candidates.add(new Candidate(both, both));
        candidates.add(new Candidate(new QuotaEntity(byUser, byDefault), both));
        candidates.add(new Candidate(userOnly, userOnly));
        candidates.add(new Candidate(new QuotaEntity(byDefault, byClient), both));
        candidates.add(new Candidate(new QuotaEntity(byDefault, byDefault), both));
        candidates.add(new Candidate(new QuotaEntity(byDefault, Optional.empty()), userOnly));
        candidates.add(new Candidate(clientOnly, clientOnly));
        candidates.add(new Candidate(new QuotaEntity(Optional.empty(), byDefault), clientOnly));
        for (Candidate candidate : candidates) {
            Optional<Limit> found = limit(candidate.named, key, candidate.counted);
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    /** The limit for an address: its own before the default. Connections of each address are counted for themselves. */
    public Optional<Limit> findForAddress(QuotaKey key, String address) {
        QuotaEntity own = QuotaEntity.ofAddress(address);
        return limit(own, key, own).or(() -> limit(QuotaEntity.ofAddress(QuotaEntity.DEFAULT), key, own));
    }

    private Optional<Limit> limit(QuotaEntity named, QuotaKey key, QuotaEntity counted) {
        Map<QuotaKey, Double> found = quotas.get(named);
        return found == null || !found.containsKey(key)
                ? Optional.empty()
                : Optional.of(new Limit(counted, found.get(key)));
    }

    private record Candidate(QuotaEntity named, QuotaEntity counted) {}
}
