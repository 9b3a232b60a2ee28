package io.varve.serving.request.share;

import io.netty.buffer.ByteBuf;
import io.varve.base.Clock;
import io.varve.serving.coordinator.ShareGroupSettings;
import io.varve.serving.coordinator.ShareStates;
import io.varve.serving.core.share.Acknowledgement;
import io.varve.serving.core.share.Acquired;
import io.varve.serving.core.share.Deliveries;
import io.varve.serving.core.share.ShareKey;
import io.varve.serving.log.LogError;
import io.varve.serving.log.PartitionLog;
import io.varve.serving.log.PartitionLog.Isolation;
import io.varve.serving.log.PartitionLog.ReadResult;
import io.varve.serving.request.Deadlines;
import io.varve.serving.request.LogErrors;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.kafka.common.protocol.Errors;

/**
 * One partition as one share group sees it, at the partition's owner: {@link Deliveries} with a log to read from and a place to store them.
 *
 * <p>One write is under way at a time; what is acknowledged meanwhile goes with the next one. Acknowledgements are answered when they are
 * stored. Where a write shows that somebody else has taken over, or reset the group, this object is dead: whoever comes next loads anew.
 *
 * <p>One read is under way at a time, so that two members don't read the same records of which one will get none. Safe for any thread: the
 * monitor guards everything, and nothing is called out to while it is held but the log's and the store's own non-blocking calls.
 */
final class SharePartition {

    private static final long WRITE_AGAIN_MS = 1_000;
    private static final long DEAD = -1;

    private final ShareKey key;
    private final PartitionLog log;
    private final ShareStates states;
    private final Supplier<ShareGroupSettings> settings;
    private final Deadlines deadlines;
    private final Clock clock;
    private final int stateEpoch;
    private final Deliveries deliveries;

    private final Set<Runnable> waiting = new LinkedHashSet<>();
    private List<CompletableFuture<Errors>> unstored = new ArrayList<>();
    private Errors deadOf = Errors.NONE;
    private boolean reading;

    /** The log says that there is something to read, or that it is lost: whichever it is, reading tells. */
    private boolean told;

    private boolean writing;
    private long expiryMs = Long.MAX_VALUE;
    private Runnable cancelExpiry = () -> {};

    /** @param settings the group's, as they are at any time */
    SharePartition(
            ShareKey key,
            PartitionLog log,
            ShareStates states,
            Supplier<ShareGroupSettings> settings,
            Deadlines deadlines,
            Clock clock,
            int stateEpoch,
            Deliveries deliveries) {
        this.key = key;
        this.log = log;
        this.states = states;
        this.settings = settings;
        this.deadlines = deadlines;
        this.clock = clock;
        this.stateEpoch = stateEpoch;
        this.deliveries = deliveries;
    }

    ShareKey key() {
        return key;
    }

    PartitionLog log() {
        return log;
    }

    int lockMs() {
        return settings.get().limits().lockMs();
    }

    synchronized boolean isDead() {
        return deadOf != Errors.NONE;
    }

    // ---- acquiring

    /**
     * What a member is after.
     *
     * @param member who
     * @param recordsMax how many records
     * @param exactly whether it may be no more
     * @param bytesMax of record batches; the first batch comes in any case
     */
    record Wish(String member, int recordsMax, boolean exactly, int bytesMax) {}

    /**
     * What it got.
     *
     * @param error NONE also if there was nothing
     * @param batches with the acquired records in them; each holds a reference that the receiver releases
     * @param acquired which of their records
     * @param again whether there may be more at once, though nothing was acquired
     */
    record Got(Errors error, List<ByteBuf> batches, List<Acquired> acquired, boolean again) {
        static final Got NOTHING = new Got(Errors.NONE, List.of(), List.of(), false);

        static Got failed(Errors error) {
            return new Got(error, List.of(), List.of(), false);
        }

        int bytes() {
            return batches.stream().mapToInt(ByteBuf::readableBytes).sum();
        }

        long records() {
            return acquired.stream()
                    .mapToLong(range -> range.lastOffset() - range.firstOffset() + 1)
                    .sum();
        }
    }

    /** Reads and acquires what there is now. Never waits for records. */
    CompletableFuture<Got> acquire(Wish wish) {
        long offset;
        Isolation isolation = isolation();
        synchronized (this) {
            if (deadOf != Errors.NONE) {
                return CompletableFuture.completedFuture(Got.failed(deadOf));
            }
            deliveries.startAt(log.offsets().logStart());
            if (reading || !deliveries.mayAcquire(settings.get().limits())) {
                return CompletableFuture.completedFuture(Got.NOTHING);
            }
            offset = deliveries.nextOffset();
            if (offset >= visibleEnd(isolation) && !told) {
                return CompletableFuture.completedFuture(Got.NOTHING);
            }
            told = false;
            reading = true;
        }
        return log.read(offset, wish.bytesMax(), true, isolation)
                .handle((result, failure) -> failure == null
                        ? onRead(wish, offset, result)
                        : afterRead(Got.failed(Errors.forException(failure))));
    }

    private Isolation isolation() {
        return settings.get().committedOnly() ? Isolation.READ_COMMITTED : Isolation.READ_UNCOMMITTED;
    }

    private long visibleEnd(Isolation isolation) {
        return isolation == Isolation.READ_COMMITTED
                ? log.offsets().lastStable()
                : log.offsets().highWatermark();
    }

    private Got onRead(Wish wish, long fromOffset, ReadResult result) {
        if (result.error() == LogError.OFFSET_OUT_OF_RANGE) {
            // The log's start has moved over it. The next look begins there.
            result.release();
            return afterRead(new Got(Errors.NONE, List.of(), List.of(), true));
        }
        if (result.error() != LogError.NONE) {
            result.release();
            return afterRead(Got.failed(LogErrors.toKafka(result.error())));
        }
        ReadBatches batches = ReadBatches.of(result, fromOffset);
        List<Acquired> acquired;
        synchronized (this) {
            batches.undeliverable().forEach(deliveries::skip);
            acquired = deadOf == Errors.NONE
                    ? deliveries.acquire(
                            wish.member(),
                            batches.deliverable(),
                            wish.recordsMax(),
                            wish.exactly(),
                            settings.get().limits(),
                            nowMs())
                    : List.of();
            watchLocks();
            store();
        }
        boolean passedOver = acquired.isEmpty() && !batches.undeliverable().isEmpty();
        return afterRead(new Got(Errors.NONE, batches.keep(acquired), acquired, passedOver));
    }

    private Got afterRead(Got got) {
        List<Runnable> woken;
        synchronized (this) {
            reading = false;
            woken = wake();
        }
        woken.forEach(Runnable::run);
        return got;
    }

    /**
     * Calls back once when there may be something to acquire, or nothing will ever be; at once, on the caller's thread, if that is so already.
     *
     * @return cancels the wait; harmless after the call back
     */
    Runnable whenReady(Runnable callback) {
        long offset;
        boolean mayAcquire;
        Isolation isolation = isolation();
        synchronized (this) {
            offset = deliveries.nextOffset();
            mayAcquire = !reading && deliveries.mayAcquire(settings.get().limits());
            if (deadOf == Errors.NONE) {
                waiting.add(callback);
            } else {
                offset = DEAD;
            }
        }
        if (offset == DEAD) {
            // Not under the monitor: whoever is called takes those of other partitions.
            callback.run();
            return () -> {};
        }
        Runnable cancelLog = mayAcquire
                ? log.whenReadable(offset, isolation, () -> {
                    synchronized (this) {
                        told = true;
                    }
                    callback.run();
                })
                : () -> {};
        return () -> {
            synchronized (this) {
                waiting.remove(callback);
            }
            cancelLog.run();
        };
    }

    private List<Runnable> wake() {
        List<Runnable> all = List.copyOf(waiting);
        waiting.clear();
        return all;
    }

    // ---- what members say

    /** Takes acknowledgements; answers when they are stored, or why they don't count. */
    CompletableFuture<Errors> acknowledge(String member, List<Acknowledgement> all) {
        ShareGroupSettings now = settings.get();
        if (!now.renewable() && all.stream().anyMatch(Acknowledgement::renews)) {
            return CompletableFuture.completedFuture(Errors.INVALID_REQUEST);
        }
        CompletableFuture<Errors> stored = new CompletableFuture<>();
        List<Runnable> woken;
        synchronized (this) {
            if (deadOf != Errors.NONE) {
                return CompletableFuture.completedFuture(deadOf);
            }
            switch (deliveries.acknowledge(member, all, now.limits(), nowMs())) {
                case MALFORMED -> {
                    return CompletableFuture.completedFuture(Errors.INVALID_REQUEST);
                }
                case NOT_ACQUIRED -> {
                    return CompletableFuture.completedFuture(Errors.INVALID_RECORD_STATE);
                }
                case TAKEN -> unstored.add(stored);
            }
            watchLocks();
            store();
            woken = wake();
        }
        woken.forEach(Runnable::run);
        return stored;
    }

    /** A member is gone: what it has is available again. */
    void releaseAll(String member) {
        List<Runnable> woken;
        synchronized (this) {
            deliveries.releaseAll(member);
            store();
            woken = wake();
        }
        woken.forEach(Runnable::run);
    }

    /** Ends it: whoever asks is answered {@code why}. */
    void die(Errors why) {
        List<Runnable> woken;
        List<CompletableFuture<Errors>> lost;
        synchronized (this) {
            if (deadOf != Errors.NONE) {
                return;
            }
            deadOf = why;
            cancelExpiry.run();
            lost = unstored;
            unstored = new ArrayList<>();
            woken = wake();
        }
        lost.forEach(acknowledgement -> acknowledgement.complete(why));
        woken.forEach(Runnable::run);
    }

    // ---- locks

    /** Sets the alarm for the next lock that ends. */
    private void watchLocks() {
        long nextMs = deliveries.nextExpiryMs();
        if (nextMs >= expiryMs || deadOf != Errors.NONE) {
            return;
        }
        cancelExpiry.run();
        expiryMs = nextMs;
        cancelExpiry = deadlines.after(Math.max(1, nextMs - nowMs()), this::onExpiry);
    }

    private void onExpiry() {
        List<Runnable> woken = List.of();
        synchronized (this) {
            expiryMs = Long.MAX_VALUE;
            if (deadOf == Errors.NONE) {
                if (deliveries.expire(settings.get().limits(), nowMs())) {
                    store();
                    woken = wake();
                }
                watchLocks();
            }
        }
        woken.forEach(Runnable::run);
    }

    private long nowMs() {
        return TimeUnit.NANOSECONDS.toMillis(clock.nanoTime());
    }

    // ---- storing

    private void store() {
        if (writing || deadOf != Errors.NONE) {
            return;
        }
        List<CompletableFuture<Errors>> acknowledgements = unstored;
        unstored = new ArrayList<>();
        Optional<Deliveries.Write> write = deliveries.takeWrite();
        if (write.isEmpty()) {
            // A renewal changes nothing that is stored.
            acknowledgements.forEach(acknowledgement -> acknowledgement.completeAsync(() -> Errors.NONE));
            return;
        }
        writing = true;
        states.write(key, stateEpoch, log.epoch(), write.get())
                .thenAccept(error -> onStored(write.get(), acknowledgements, error));
    }

    private void onStored(Deliveries.Write write, List<CompletableFuture<Errors>> acknowledgements, Errors error) {
        Errors answer = forMember(error);
        boolean fenced = error != Errors.NONE && answer == Errors.NOT_LEADER_OR_FOLLOWER;
        synchronized (this) {
            writing = false;
            if (error != Errors.NONE && !fenced) {
                deliveries.giveBack(write);
                deadlines.after(WRITE_AGAIN_MS, this::storeAgain);
            }
        }
        acknowledgements.forEach(acknowledgement -> acknowledgement.complete(answer));
        if (fenced) {
            die(Errors.NOT_LEADER_OR_FOLLOWER);
        } else if (error == Errors.NONE) {
            storeAgain();
        }
    }

    private synchronized void storeAgain() {
        store();
    }

    /** What the store says, as a member understands it: all that shows that this isn't the place any more sends it to look for that. */
    private static Errors forMember(Errors error) {
        return switch (error) {
            case FENCED_STATE_EPOCH, FENCED_LEADER_EPOCH, GROUP_ID_NOT_FOUND, UNKNOWN_TOPIC_OR_PARTITION ->
                Errors.NOT_LEADER_OR_FOLLOWER;
            default -> error;
        };
    }
}
