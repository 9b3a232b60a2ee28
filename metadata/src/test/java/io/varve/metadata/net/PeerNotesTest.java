package io.varve.metadata.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.metadata.raft.RaftPeerAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PeerNotesTest {

    private static final RaftPeerAddress ONE = new RaftPeerAddress(1, "a", 11, 12);
    private static final RaftPeerAddress TWO = new RaftPeerAddress(2, "b.example", 21, 22);

    @TempDir
    Path directory;

    @Test
    void whatWasNotedIsThereAfterARestartAndNeverShrinks() throws IOException {
        Path file = directory.resolve("members");
        PeerNotes notes = PeerNotes.read(file);
        assertThat(notes.storedIndex(1)).isEqualTo(-1);
        notes.update(List.of(ONE, TWO), Map.of(1, 70L, 2, 80L));
        notes.update(List.of(ONE, TWO), Map.of(1, 60L));

        PeerNotes again = PeerNotes.read(file);
        assertThat(again.members()).containsExactly(ONE, TWO);
        assertThat(again.storedIndex(1)).isEqualTo(70);
        assertThat(again.storedIndex(2)).isEqualTo(80);
    }

    @Test
    void whoIsNoMemberAnyLongerIsForgotten() throws IOException {
        PeerNotes notes = PeerNotes.read(directory.resolve("members"));
        notes.update(List.of(ONE, TWO), Map.of(1, 70L, 2, 80L));
        notes.update(List.of(ONE), Map.of(1, 71L, 2, 80L));
        assertThat(notes.storedIndex(2)).isEqualTo(-1);
        notes.update(List.of(ONE, TWO), Map.of(2, 5L));
        assertThat(notes.storedIndex(2)).isEqualTo(5);
    }

    @Test
    void aDamagedFileIsAsGoodAsNone() throws IOException {
        Path file = directory.resolve("members");
        Files.writeString(file, "member.x=?\n");
        assertThat(PeerNotes.read(file).members()).isEmpty();
    }
}
