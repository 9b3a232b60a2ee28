package io.varve.serving.partition;

import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/** Lets so many asynchronous calls be under way at a time; the others wait in order. Used on one loop. */
final class ReadGate {

    private final int atATimeMax;
    private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
    private int underWay;

    ReadGate(int atATimeMax) {
        this.atATimeMax = atATimeMax;
    }

    /**
     * Makes the call as soon as its turn comes.
     *
     * @param loop the gate's own
     * @return completes on the loop as the call does
     */
    <T> CompletableFuture<T> call(Executor loop, Supplier<CompletableFuture<T>> call) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Runnable start = () -> {
            underWay++;
            call.get()
                    .whenComplete((value, failure) -> loop.execute(() -> {
                        underWay--;
                        if (failure == null) {
                            result.complete(value);
                        } else {
                            result.completeExceptionally(failure);
                        }
                        startNext();
                    }));
        };
        waiting.addLast(start);
        startNext();
        return result;
    }

    private void startNext() {
        while (underWay < atATimeMax && !waiting.isEmpty()) {
            waiting.pollFirst().run();
        }
    }
}
