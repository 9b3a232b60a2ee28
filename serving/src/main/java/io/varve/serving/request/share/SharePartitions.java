package io.varve.serving.request.share;

import io.varve.base.PartitionId;
import io.varve.serving.coordinator.ShareCoordinators;
import io.varve.serving.coordinator.ShareGroupSettings;
import io.varve.serving.coordinator.ShareStates;
import io.varve.serving.core.share.Deliveries;
import io.varve.serving.core.share.ShareKey;
import io.varve.serving.log.LogError;
import io.varve.serving.log.PartitionLog;
import io.varve.serving.log.PartitionLog.Isolation;
import io.varve.serving.log.PartitionLog.TimestampResult;
import io.varve.serving.log.PartitionLogs;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.LogErrors;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.protocol.Errors;

/**
 * What share groups have of the partitions that this broker owns. Loaded when a member first asks, forgotten with the last session of a group
 * or with the partition. Safe for any thread.
 */
final class SharePartitions implements PartitionLogs.OwnershipListener {

    private final BrokerServices broker;
    private final ShareCoordinators coordinators;
    private final ConcurrentHashMap<ShareKey, CompletableFuture<SharePartition>> partitions = new ConcurrentHashMap<>();

    SharePartitions(BrokerServices broker, ShareCoordinators coordinators) {
        this.broker = broker;
        this.coordinators = coordinators;
        broker.logs().subscribe(this);
    }

    /** How many there are. */
    int size() {
        return partitions.size();
    }

    /** The group's view of the partition. Fails with Kafka's exception if it can't be had now. */
    CompletableFuture<SharePartition> find(String group, PartitionLog log) {
        ShareKey key = new ShareKey(group, log.id());
        CompletableFuture<SharePartition> fresh = new CompletableFuture<>();
        CompletableFuture<SharePartition> found =
                partitions.compute(key, (ignored, old) -> old != null && isOf(old, log) ? old : fresh);
        if (found == fresh) {
            begin(key, log, fresh);
        }
        return found.copy();
    }

    /** Whether it is loaded, or being loaded, from that tenure of the log and lives. */
    private static boolean isOf(CompletableFuture<SharePartition> known, PartitionLog log) {
        if (!known.isDone()) {
            return true;
        }
        if (known.isCompletedExceptionally()) {
            return false;
        }
        SharePartition partition = known.join();
        return !partition.isDead() && partition.log().epoch() == log.epoch();
    }

    private void begin(ShareKey key, PartitionLog log, CompletableFuture<SharePartition> into) {
        load(key, log).whenComplete((partition, failure) -> {
            if (failure != null) {
                partitions.remove(key, into);
                into.completeExceptionally(failure);
            } else {
                into.complete(partition);
            }
        });
    }

    private CompletableFuture<SharePartition> load(ShareKey key, PartitionLog log) {
        ShareStates states = coordinators.states();
        return states.read(key, log.epoch()).thenCompose(stored -> {
            if (stored.error() != Errors.NONE) {
                throw forMember(stored.error());
            }
            if (stored.startOffset() != ShareStates.NO_START) {
                return CompletableFuture.completedFuture(partition(
                        key, log, stored.stateEpoch(), Deliveries.of(stored.startOffset(), stored.batches())));
            }
            return beginning(coordinators.settings(key.group()), log)
                    .thenCompose(offset -> keepStart(key, log, stored.stateEpoch(), offset));
        });
    }

    /** Stores where a group begins before anybody reads there: another owner must not let it begin later. */
    private CompletableFuture<SharePartition> keepStart(ShareKey key, PartitionLog log, int stateEpoch, long offset) {
        return coordinators
                .states()
                .write(key, stateEpoch, log.epoch(), new Deliveries.Write(offset, 0, List.of()))
                .thenApply(error -> {
                    if (error != Errors.NONE) {
                        throw forMember(error);
                    }
                    return partition(key, log, stateEpoch, Deliveries.of(offset, List.of()));
                });
    }

    private static CompletableFuture<Long> beginning(ShareGroupSettings settings, PartitionLog log) {
        PartitionLog.Offsets offsets = log.offsets();
        long latest = settings.committedOnly() ? offsets.lastStable() : offsets.highWatermark();
        return switch (settings.reset()) {
            case EARLIEST -> CompletableFuture.completedFuture(offsets.logStart());
            case LATEST -> CompletableFuture.completedFuture(latest);
            case TIME ->
                log.offsetForTimestamp(
                                settings.resetTimeMs(),
                                settings.committedOnly() ? Isolation.READ_COMMITTED : Isolation.READ_UNCOMMITTED)
                        .thenApply(found -> offsetIn(found, latest));
        };
    }

    private static long offsetIn(TimestampResult result, long latest) {
        if (result.error() != LogError.NONE) {
            throw LogErrors.toKafka(result.error()).exception();
        }
        return result.found().map(TimestampResult.Found::offset).orElse(latest);
    }

    private SharePartition partition(ShareKey key, PartitionLog log, int stateEpoch, Deliveries deliveries) {
        return new SharePartition(
                key,
                log,
                coordinators.states(),
                () -> coordinators.settings(key.group()),
                broker.deadlines(),
                broker.clock(),
                stateEpoch,
                deliveries);
    }

    private static ApiException forMember(Errors error) {
        return switch (error) {
            case FENCED_STATE_EPOCH, FENCED_LEADER_EPOCH -> Errors.NOT_LEADER_OR_FOLLOWER.exception();
            default -> error.exception();
        };
    }

    /** A member is gone: what it has of {@code keys} is available again. */
    void releaseAll(String member, Collection<ShareKey> keys) {
        for (ShareKey key : keys) {
            CompletableFuture<SharePartition> partition = partitions.get(key);
            if (partition != null) {
                partition.thenAccept(loaded -> loaded.releaseAll(member));
            }
        }
    }

    /** The last member of a group is gone from here. Its offsets may be changed now: what is here is no longer the truth. */
    void forget(String group) {
        partitions.forEach((key, partition) -> {
            if (key.group().equals(group)) {
                end(key, partition);
            }
        });
    }

    private void end(ShareKey key, CompletableFuture<SharePartition> partition) {
        if (partitions.remove(key, partition)) {
            partition.thenAccept(loaded -> loaded.die(Errors.NOT_LEADER_OR_FOLLOWER));
        }
    }

    @Override
    public void onServing(PartitionLog log) {
        // Loaded when somebody asks.
    }

    @Override
    public void onLost(PartitionId partition, int epoch) {
        partitions.forEach((key, known) -> {
            if (key.partition().equals(partition)) {
                end(key, known);
            }
        });
    }
}
