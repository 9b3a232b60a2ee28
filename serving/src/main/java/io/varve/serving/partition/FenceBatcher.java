package io.varve.serving.partition;

import io.varve.base.BookieId;
import io.varve.bookie.client.BookieAddress;
import io.varve.bookie.client.BookieClient;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieClient.FenceRequest;
import io.varve.bookie.client.BookieStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Gathers the fences of many partitions for one bookie into one request, and so into one fsync: when a broker dies, all its partitions are
 * fenced at once. While a request is under way the next ones gather. Safe for any thread.
 */
final class FenceBatcher {

    private static final int BATCH_MAX = 1_000;
    private static final FenceReply NO_ANSWER = new FenceReply(BookieStatus.NO_ANSWER, -1, -1, 0, false, -1);

    private final BookieClient bookies;
    private final long timeoutMs;
    private final ConcurrentHashMap<BookieId, Lane> lanes = new ConcurrentHashMap<>();

    FenceBatcher(BookieClient bookies, long timeoutMs) {
        this.bookies = bookies;
        this.timeoutMs = timeoutMs;
    }

    /**
     * Fences one partition at one bookie.
     *
     * @param later where the sending waits for others to join; the caller's loop
     * @param answer gets the reply, on any thread
     */
    void fence(BookieAddress bookie, FenceRequest request, Executor later, Consumer<FenceReply> answer) {
        Lane lane = lanes.computeIfAbsent(bookie.id(), id -> new Lane());
        lane.waiting.add(new Waiting(request, answer));
        if (lane.busy.compareAndSet(false, true)) {
            later.execute(() -> send(bookie, lane));
        }
    }

    private void send(BookieAddress bookie, Lane lane) {
        List<Waiting> batch = new ArrayList<>();
        for (Waiting next = lane.waiting.poll(); next != null; next = lane.waiting.poll()) {
            batch.add(next);
            if (batch.size() == BATCH_MAX) {
                break;
            }
        }
        if (batch.isEmpty()) {
            lane.busy.set(false);
            if (!lane.waiting.isEmpty() && lane.busy.compareAndSet(false, true)) {
                send(bookie, lane);
            }
            return;
        }
        bookies.fence(bookie, batch.stream().map(Waiting::request).toList(), timeoutMs)
                .whenComplete((replies, failure) -> {
                    for (int i = 0; i < batch.size(); i++) {
                        boolean answered = replies != null && replies.size() == batch.size();
                        batch.get(i).answer().accept(answered ? replies.get(i) : NO_ANSWER);
                    }
                    send(bookie, lane);
                });
    }

    private record Waiting(FenceRequest request, Consumer<FenceReply> answer) {}

    private static final class Lane {
        private final ConcurrentLinkedQueue<Waiting> waiting = new ConcurrentLinkedQueue<>();
        private final AtomicBoolean busy = new AtomicBoolean();
    }
}
