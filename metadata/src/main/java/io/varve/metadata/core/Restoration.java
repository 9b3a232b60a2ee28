package io.varve.metadata.core;

import io.varve.base.Invariant;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.PartitionState;
import java.util.List;

/**
 * What a service that begins with a backup begins with. Since the backup was made its cluster went on: it gave out ids and epochs that the backup knows nothing of, and bookies remember
 * them. So all of them go on from numbers that were never reached: those of the time of the restoration, which also makes two restorations of one backup different.
 *
 * <p>Ids and the version go on from the time in milliseconds, epochs from the time in seconds since 2020: a cluster would have to give out a thousand ids, or change a partition's owner once, in every second of its life to get
 * there by itself. Nobody is alive: who still runs registers again.
 */
public final class Restoration {

    private static final long EPOCHS_SINCE_MS = 1_577_836_800_000L;

    private Restoration() {}

    /**
     * The state to begin with.
     *
     * @param saved as it was saved
     * @param nowMs when it is restored
     */
    public static MetadataImage of(MetadataImage saved, long nowMs) {
        long seconds = (nowMs - EPOCHS_SINCE_MS) / 1_000;
        Invariant.check(seconds > 0 && seconds < Integer.MAX_VALUE, "a time from 2020 to 2088", nowMs);
        Draft draft = new Draft(saved, nowMs, 0);
        Counters counters = saved.counters();
        draft.countersUpTo(
                Math.max(nowMs, counters.nextSegment()),
                Math.max(nowMs, counters.nextTask()),
                Math.max(nowMs, counters.nextProducerId()));
        for (BrokerInfo broker : List.copyOf(saved.brokers())) {
            draft.put(new BrokerInfo(
                    broker.id(), broker.incarnation(), broker.rack(), broker.endpoints(), BrokerInfo.State.GONE));
        }
        for (BookieInfo bookie : List.copyOf(saved.bookies())) {
            if (bookie.state() != BookieInfo.State.GONE) {
                NodeCommands.endSession(draft, bookie);
            }
        }
        for (PartitionState partition :
                List.copyOf(saved.partitionIndex().living().values())) {
            int epoch = Math.max(partition.epoch() + 1, (int) seconds);
            draft.putPartition(partition.id(), PartitionState.NO_OWNER, epoch, partition.logStartOffset());
        }
        return draft.image().at(Math.max(saved.version() + 1, nowMs), Digest.fold(saved.digest(), draft.records()));
    }
}
