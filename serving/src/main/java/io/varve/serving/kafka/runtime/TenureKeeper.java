package io.varve.serving.kafka.runtime;

import io.varve.base.PartitionId;
import io.varve.base.TopicId;
import io.varve.serving.log.LogError;
import io.varve.serving.log.PartitionLog;
import io.varve.serving.log.PartitionLogs;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Elects a coordinator for each partition of one internal topic that this broker serves, and makes it resign when the partition is lost or
 * a write is. A lost write ends the tenure at once: state that ran ahead of the quorum must not be served, nor built upon. If the log is
 * still ours afterwards, the next tenure loads it anew.
 *
 * <p>Safe for any thread; {@link Elections} is called under the keeper's lock, so in one order for all.
 */
public final class TenureKeeper implements PartitionLogs.OwnershipListener {

    private static final Logger LOG = LoggerFactory.getLogger(TenureKeeper.class);

    private final TopicId topic;
    private final String topicName;
    private final Elections elections;
    private final Map<Integer, Tenure> current = new TreeMap<>();

    /** Elected, but not yet loading. */
    private final Map<Integer, Deque<Tenure>> elected = new TreeMap<>();

    private int lastTenure;

    public TenureKeeper(TopicId topic, String topicName, Elections elections) {
        this.topic = topic;
        this.topicName = topicName;
        this.elections = elections;
    }

    @Override
    public synchronized void onServing(PartitionLog log) {
        if (log.id().topic().equals(topic)) {
            begin(log);
        }
    }

    @Override
    public synchronized void onLost(PartitionId partition, int epoch) {
        if (!partition.topic().equals(topic)) {
            return;
        }
        Tenure tenure = current.get(partition.index());
        if (tenure != null && tenure.log().epoch() == epoch) {
            current.remove(partition.index());
            end(tenure, "the partition was lost");
        }
    }

    /**
     * The tenure that the runtime's next load of that partition is for. The runtime works off elections in order but doesn't say which one
     * a load belongs to; a load of one that has ended since must not be taken for one of its successor.
     *
     * @return null if there is none
     */
    synchronized Tenure nextToLoad(int partition) {
        Deque<Tenure> waiting = elected.get(partition);
        Tenure next = waiting == null ? null : waiting.poll();
        return next != null ? next : current.get(partition);
    }

    /** Ends {@code tenure} because what it wrote may be lost. The next one begins once the fate of all its writes is known. */
    void abandon(Tenure tenure, LogError cause) {
        synchronized (this) {
            if (tenure.retired()) {
                return;
            }
            end(tenure, "a write failed with " + cause);
        }
        tenure.whenSettled(() -> beginAgain(tenure));
    }

    private synchronized void beginAgain(Tenure abandoned) {
        int partition = abandoned.name().partition();
        if (current.get(partition) == abandoned) {
            begin(abandoned.log());
        }
    }

    private void begin(PartitionLog log) {
        int partition = log.id().index();
        Tenure replaced = current.get(partition);
        if (replaced != null && !replaced.retired()) {
            end(replaced, "a later epoch is served");
        }
        Tenure tenure = new Tenure(log, ++lastTenure, new TopicPartition(topicName, partition));
        current.put(partition, tenure);
        LOG.info("event=coordinator_elected partition={} epoch={} tenure={}", tenure.name(), log.epoch(), lastTenure);
        elected.computeIfAbsent(partition, p -> new ArrayDeque<>()).add(tenure);
        elections.onElection(partition, tenure.number());
    }

    private void end(Tenure tenure, String why) {
        tenure.retire();
        LOG.info(
                "event=coordinator_resigned partition={} tenure={} reason=\"{}\"", tenure.name(), tenure.number(), why);
        elections.onResignation(tenure.name().partition(), ++lastTenure);
    }
}
