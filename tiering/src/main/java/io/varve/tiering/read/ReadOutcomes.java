package io.varve.tiering.read;

import io.varve.base.FaultHandler;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.object.StoreFailures;
import java.util.concurrent.CompletableFuture;

/** What becomes of reads of one kind: every failure reaches the caller as a {@link RemoteReadException}, is counted, and, if it should never happen, is an alarm. Safe for any thread. */
public final class ReadOutcomes {

    private final String what;
    private final TroubleCounters failures;
    private final Alarms alarms;
    private final FaultHandler faults;

    /**
     * @param what is read, for {@code faults}
     * @param faults is told of every Error; the reads that it befell fail with it
     */
    public ReadOutcomes(String what, TroubleCounters failures, Alarms alarms, FaultHandler faults) {
        this.what = what;
        this.failures = failures;
        this.alarms = alarms;
        this.faults = faults;
    }

    /** The answer, once it was told of. */
    public <T> CompletableFuture<T> told(Alarms.Place place, Alarms.Question question, CompletableFuture<T> answer) {
        return answer.thenApply(found -> {
                    alarms.settle(place.key(), question.what(), question.at(), question.at() + 1);
                    return found;
                })
                .exceptionallyCompose(failure -> {
                    if (StoreFailures.root(failure) instanceof Error broken) {
                        faults.onFault(what, broken);
                        return CompletableFuture.failedFuture(broken);
                    }
                    RemoteReadException trouble = ObjectReads.failed(place.key(), failure);
                    failures.count(trouble);
                    alarms.raise(place, question, trouble);
                    return CompletableFuture.failedFuture(trouble);
                });
    }
}
