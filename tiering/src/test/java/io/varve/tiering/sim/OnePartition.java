package io.varve.tiering.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataClient.Roll;
import io.varve.metadata.api.MetadataClient.Seal;
import io.varve.metadata.api.MetadataException;
import io.varve.metadata.core.PlannerSettings;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.metadata.testing.InMemoryMetadata;
import io.varve.metadata.testing.StepClock;
import io.varve.tiering.testing.MemoryObjectStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletionException;

/**
 * A cluster of one partition as the tier sees it: the metadata's real state machine and planners on a clock that is stepped, a bucket in memory, and an owner that rolls when it is
 * told to. What bookies do is the histories' own.
 */
final class OnePartition {

    private static final int EPOCH = 0;

    final StepClock clock = new StepClock(1_000_000);
    final MemoryObjectStore bucket = new MemoryObjectStore(clock::wallTimeMs);
    final InMemoryMetadata metadata;
    final MetadataClient client;
    final PartitionId id;
    final String clusterId;
    private SegmentDescriptor open;

    OnePartition(long seed, PlannerSettings settings, Map<String, String> topicConfigs) {
        metadata = new InMemoryMetadata(clock, seed, settings).withBookies(3);
        client = metadata.newClient();
        client.registerBroker(new BrokerInfo(
                        1,
                        11,
                        "",
                        List.of(new BrokerInfo.Endpoint("P", "PLAINTEXT", "localhost", 1)),
                        BrokerInfo.State.LIVE))
                .join();
        Topic topic = client.createTopic("orders", 1, 3, topicConfigs).join();
        id = new PartitionId(topic.id(), 0);
        clusterId = metadata.view().clusterId();
        SegmentDescriptor first = client.allocateSegment(id, EPOCH, 0, Set.of()).join();
        client.roll(new Roll(id, EPOCH, Optional.empty(), first.id())).join();
        open = state().chain().open().orElseThrow();
    }

    PartitionState state() {
        return metadata.view().partition(id).orElseThrow();
    }

    SegmentDescriptor open() {
        return open;
    }

    List<BookieTask> tasks() {
        return new ArrayList<>(metadata.view().tasks());
    }

    /** Seals the open segment, held by all its replicas, and opens the next. */
    void roll(long endOffset, long bytes, long maxTimestampMs) {
        Set<BookieId> holders = new TreeSet<>();
        open.replicas().forEach(replica -> holders.add(replica.bookie()));
        SegmentDescriptor next =
                client.allocateSegment(id, EPOCH, endOffset, Set.of()).join();
        Seal seal = new Seal(open.id(), endOffset, bytes, maxTimestampMs, holders);
        client.roll(new Roll(id, EPOCH, Optional.of(seal), next.id())).join();
        open = state().chain().open().orElseThrow();
    }

    /** Keys of the objects that the chain names; a manifest's not among them. */
    Set<String> named() {
        Set<String> named = new TreeSet<>();
        state().chain().segments().forEach(s -> s.object().ifPresent(o -> named.add(o.key())));
        return named;
    }

    /** What was lost on the way back was carried out: the next look at the tasks tells. */
    static void ignoreLoss(Runnable command) {
        try {
            command.run();
        } catch (CompletionException e) {
            assertThat(e.getCause()).isInstanceOf(MetadataException.class);
        }
    }

    /** A history on a seed. */
    interface History {
        void go() throws Exception;
    }

    /** Makes the history of a seed. */
    interface Histories {
        History of(long seed);
    }

    /** Asserts that some of the seeds' histories find what is wrong. */
    static void assertFound(int seeds, Histories histories) {
        boolean found = false;
        for (int seed = 0; seed < seeds && !found; seed++) {
            try {
                histories.of(seed).go();
            } catch (Exception | AssertionError e) {
                found = true;
            }
        }
        assertThat(found).as("a seed found it").isTrue();
    }

    /** Runs a history; what it finds is told with its seed. */
    static void run(long seed, History history) {
        try {
            history.go();
        } catch (Exception | AssertionError e) {
            throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
        }
    }
}
