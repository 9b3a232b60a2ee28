package io.varve.tiering.object;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Counts what really goes to the store: put it inside whatever retries. The request bill is kept by these numbers. */
public final class MeteredObjectStore extends WrappedObjectStore {

    private final MeterRegistry registry;
    private final Map<Verb, Timer> latencies = new EnumMap<>(Verb.class);
    private final Map<Verb, Counter> bytes = new EnumMap<>(Verb.class);
    private final Map<StoreException.Kind, Counter> errors = new EnumMap<>(StoreException.Kind.class);

    public MeteredObjectStore(ObjectStore inner, MeterRegistry registry) {
        super(inner);
        this.registry = registry;
        for (Verb verb : Verb.values()) {
            latencies.put(verb, registry.timer("varve.tiering.requests", "verb", verb.name()));
            bytes.put(verb, registry.counter("varve.tiering.bytes", "verb", verb.name()));
        }
        for (StoreException.Kind kind : StoreException.Kind.values()) {
            errors.put(kind, registry.counter("varve.tiering.errors", "kind", kind.name()));
        }
    }

    /** How many calls of a kind were answered, well or badly. */
    public long requests(Verb verb) {
        return latencies.get(verb).count();
    }

    @Override
    protected <T> CompletableFuture<T> around(
            Verb verb, String key, long bytesMoved, Supplier<CompletableFuture<T>> call) {
        long startedNs = registry.config().clock().monotonicTime();
        return call.get().whenComplete((answer, failure) -> {
            latencies.get(verb).record(registry.config().clock().monotonicTime() - startedNs, TimeUnit.NANOSECONDS);
            if (failure == null) {
                bytes.get(verb).increment(bytesMoved);
            } else {
                errors.get(StoreFailures.of(failure).kind()).increment();
            }
        });
    }
}
