package io.varve.metadata.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.metadata.model.Replica;
import io.varve.protocol.meta.BookieStateProto;
import io.varve.protocol.meta.MetadataCommand;
import io.varve.protocol.meta.SetBookieStateCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PlacementPlannerTest {

    private final Cluster cluster = new Cluster();

    private List<Replica> place(int replicas, long seed) {
        return PlacementPlanner.place(cluster.image(), replicas, 1, false, Set.of(), seed);
    }

    private static int rackOf(Replica replica) {
        return replica.bookie().value() / 10;
    }

    @Test
    void replicasLieInAsManyRacksAsThereAre() {
        for (int id : new int[] {11, 12, 13, 21, 22, 31}) {
            cluster.bookie(id, "rack" + id / 10, 1L);
        }
        for (long seed = 0; seed < 200; seed++) {
            assertThat(place(3, seed)).extracting(PlacementPlannerTest::rackOf).containsExactlyInAnyOrder(1, 2, 3);
            assertThat(place(5, seed))
                    .extracting(Replica::bookie)
                    .doesNotHaveDuplicates()
                    .hasSize(5);
        }
    }

    /** A slow disk is better than a copy too few, and worse than any other disk. */
    @Test
    void slowBookiesAreChosenLast() {
        IntStream.rangeClosed(1, 4).forEach(id -> cluster.bookie(id, "", (long) id));
        slow(1);
        for (long seed = 0; seed < 50; seed++) {
            assertThat(place(3, seed))
                    .extracting(replica -> replica.bookie().value())
                    .containsExactlyInAnyOrder(2, 3, 4);
        }
        slow(2);
        for (long seed = 0; seed < 50; seed++) {
            assertThat(place(3, seed)).hasSize(3);
            assertThat(place(2, seed))
                    .extracting(replica -> replica.bookie().value())
                    .containsExactlyInAnyOrder(3, 4);
        }
    }

    /** S25: full bookies keep a reserve for the topics that the cluster itself stands on. */
    @Test
    void fullBookiesAreChosenForEssentialPartitionsAloneAndLast() {
        IntStream.rangeClosed(1, 4).forEach(id -> cluster.bookie(id, "", (long) id));
        state(1, BookieStateProto.BOOKIE_READ_ONLY);
        slow(2);
        for (long seed = 0; seed < 50; seed++) {
            assertThat(place(4, seed)).hasSize(3);
            assertThat(essential(3, seed))
                    .extracting(replica -> replica.bookie().value())
                    .containsExactlyInAnyOrder(2, 3, 4);
            assertThat(essential(4, seed)).hasSize(4);
        }
        IntStream.rangeClosed(2, 4).forEach(id -> state(id, BookieStateProto.BOOKIE_READ_ONLY));
        assertThat(place(3, 1)).isEmpty();
        assertThat(essential(3, 1)).hasSize(3);
    }

    private List<Replica> essential(int replicas, long seed) {
        return PlacementPlanner.place(cluster.image(), replicas, 1, true, Set.of(), seed);
    }

    private void slow(int id) {
        state(id, BookieStateProto.BOOKIE_SLOW);
    }

    private void state(int id, BookieStateProto state) {
        long session = cluster.image().bookie(new BookieId(id)).orElseThrow().sessionId();
        cluster.done(MetadataCommand.newBuilder()
                .setSetBookieState(SetBookieStateCommand.newBuilder()
                        .setId(id)
                        .setSessionId(session)
                        .setState(state)
                        .setFreeBytes(1)
                        .setTotalBytes(1)));
    }

    @Test
    void theSameImageAndSeedGiveTheSamePlaces() {
        IntStream.rangeClosed(1, 9).forEach(id -> cluster.bookie(id, "", 1L, 2L, 3L));
        assertThat(place(3, 77)).isEqualTo(place(3, 77));
        assertThat(IntStream.range(0, 50).mapToObj(seed -> place(3, seed)).distinct())
                .hasSizeGreaterThan(20);
    }

    @Test
    void segmentsAreSpreadEvenlyOverBookiesAndDirectories() {
        IntStream.rangeClosed(1, 6).forEach(id -> cluster.bookie(id, "", 10L * id, 10L * id + 1));
        cluster.broker(1);
        Map<BookieId, Integer> perBookie = new TreeMap<>();
        Map<Long, Integer> perDirectory = new TreeMap<>();
        List<PartitionId> partitions = new ArrayList<>();
        var topic = cluster.topic("t", 300, 3);
        IntStream.range(0, 300).forEach(i -> partitions.add(new PartitionId(topic, i)));
        for (PartitionId partition : partitions) {
            for (Replica replica : cluster.rolled(partition, 0).replicas()) {
                perBookie.merge(replica.bookie(), 1, Integer::sum);
                perDirectory.merge(replica.incarnation(), 1, Integer::sum);
            }
        }
        assertThat(perBookie.values()).allSatisfy(count -> assertThat(count).isBetween(149, 151));
        assertThat(perDirectory.values())
                .hasSize(12)
                .allSatisfy(count -> assertThat(count).isBetween(40, 110));
    }
}
