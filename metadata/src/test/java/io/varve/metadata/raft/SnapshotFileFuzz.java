package io.varve.metadata.raft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataClient.BookieRegistration;
import io.varve.metadata.core.CommandHistory;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.testing.InMemoryMetadata;
import io.varve.metadata.testing.StepClock;
import io.varve.protocol.meta.CommandReply;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.pcollections.TreePMap;

/** A snapshot reads back as what was written, or not at all: cut anywhere, or with any bit changed. */
class SnapshotFileFuzz {

    @TempDir
    Path directory;

    private Path file;
    private SnapshotFile.State state;

    @BeforeEach
    void writeOne() throws IOException {
        file = directory.resolve("snapshot");
        InMemoryMetadata metadata = new InMemoryMetadata(new StepClock(1_000), 3).withBookies(3);
        MetadataClient client = metadata.newClient();
        client.registerBookie(new BookieRegistration(new BookieId(9), 1, List.of(5L, 6L), "r", "h", 1, 2, 3))
                .join();
        client.registerBroker(new BrokerInfo(1, 11, "", List.of(), BrokerInfo.State.LIVE))
                .join();
        var topic = client.createTopic("t", 3, 3, Map.of("retention.ms", "5")).join();
        var partition = new PartitionId(topic.id(), 1);
        var segment = client.allocateSegment(partition, 0, 0, Set.of()).join();
        client.roll(new MetadataClient.Roll(partition, 0, Optional.empty(), segment.id()))
                .join();
        client.alterBrokerConfigs(Optional.of(1), Map.of("a", Optional.of("b"))).join();
        CommandHistory history = CommandHistory.EMPTY.with(
                77,
                new CommandHistory.Client(
                        3,
                        4,
                        TreePMap.singleton(
                                5L, CommandReply.newBuilder().setVersion(6).build())));
        state = new SnapshotFile.State(metadata.image(), history);
        assertThat(SnapshotFile.write(file, state, () -> false)).isTrue();
    }

    @Test
    void readsBackAsItWasWritten() throws IOException {
        assertThat(SnapshotFile.read(file)).isEqualTo(state);
    }

    @Test
    void isRefusedWhenCutAnywhere() throws IOException {
        byte[] whole = Files.readAllBytes(file);
        for (int length = 0; length < whole.length; length++) {
            assertRefused(Arrays.copyOf(whole, length), "cut at " + length);
        }
    }

    @Test
    void isRefusedWithAnyBitChangedThatMatters() throws IOException {
        byte[] whole = Files.readAllBytes(file);
        for (int bit = 0; bit < whole.length * 8; bit++) {
            byte[] damaged = whole.clone();
            damaged[bit / 8] ^= (byte) (1 << bit % 8);
            assertRefused(damaged, "bit " + bit);
        }
    }

    @Test
    void leavesNothingBehindWhenItIsGivenUp() throws IOException {
        Path other = directory.resolve("other");
        assertThat(SnapshotFile.write(other, state, () -> true)).isFalse();
        try (var files = Files.list(directory)) {
            assertThat(files).containsExactly(file);
        }
    }

    private void assertRefused(byte[] bytes, String how) throws IOException {
        Path damaged = directory.resolve("damaged");
        Files.write(damaged, bytes);
        assertThatThrownBy(() -> SnapshotFile.read(damaged))
                .as(how)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("damaged");
    }
}
