package io.varve.tiering.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.metadata.client.MetadataCopy;
import io.varve.metadata.testing.InMemoryMetadata;
import io.varve.metadata.testing.StepClock;
import io.varve.tiering.api.MetadataBackups.Backup;
import io.varve.tiering.object.ObjectStore.Verb;
import io.varve.tiering.testing.FaultyObjectStore;
import io.varve.tiering.testing.FaultyObjectStore.Fault;
import io.varve.tiering.testing.MemoryObjectStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BucketBackupsTest {

    private static final int PART_BYTES = 1024;

    private final MemoryObjectStore memory = new MemoryObjectStore();
    private final FaultyObjectStore store = new FaultyObjectStore(memory);
    private final BucketBackups backups = new BucketBackups(store, "c-1", PART_BYTES);

    @TempDir
    Path directory;

    @Test
    void aBackupOfAnyLengthReadsBackAsItWasWritten() throws Exception {
        for (int length : List.of(0, 1, PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 10 * PART_BYTES + 7)) {
            byte[] bytes = new byte[length];
            for (int i = 0; i < length; i++) {
                bytes[i] = (byte) (i * 31);
            }
            Backup saved = backups.save(1_000 + length, 5, out -> {
                for (int at = 0; at < length; at += 100) {
                    out.write(bytes, at, Math.min(100, length - at));
                }
            });
            assertThat(memory.objects().get(saved.key())).isEqualTo(bytes);
            Path file = directory.resolve("copy");
            backups.load(saved, file);
            assertThat(Files.readAllBytes(file)).isEqualTo(bytes);
        }
        assertThat(backups.list()).extracting(Backup::bytes).containsExactly(0L, 1L, 1023L, 1024L, 1025L, 10247L);
    }

    @Test
    void onlyTheNewestStayAndNothingElseIsTouched() throws Exception {
        memory.overwrite("c-1/backup/notes.txt", new byte[3]);
        memory.overwrite("c-2/backup/00000000000000000001-00000000000000000001.meta", new byte[3]);
        for (int taken = 1; taken <= 5; taken++) {
            backups.save(taken, taken, out -> out.write(1));
        }
        assertThat(backups.prune(2)).isEqualTo(3);
        assertThat(backups.list()).extracting(Backup::takenMs).containsExactly(4L, 5L);
        assertThat(memory.objects())
                .containsKeys("c-1/backup/notes.txt", "c-2/backup/00000000000000000001-00000000000000000001.meta");
    }

    @Test
    void whatDoesNotReadBackIsNoBackup_I10() {
        store.once(Verb.PUT, new Fault.Flip(50));
        assertThatThrownBy(() -> backups.save(1, 1, out -> out.write(new byte[100], 0, 100)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("reads back as something else");
    }

    @Test
    void metadataComesBackAsItWas() throws Exception {
        InMemoryMetadata metadata = new InMemoryMetadata(new StepClock(1_000), 1).withBookies(3);
        metadata.newClient()
                .createTopic("orders", 3, 3, Map.of("retention.ms", "-1"))
                .join();
        Backup saved = backups.save(1, metadata.view().version(), out -> MetadataCopy.write(metadata.view(), out));
        Path file = directory.resolve("copy");
        backups.load(saved, file);
        assertThat(MetadataCopy.read(file)).isEqualTo(metadata.view());
    }
}
