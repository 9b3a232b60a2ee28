package io.varve.tiering.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract on a directory, and what only a directory can do wrong. */
class LocalObjectStoreIT extends ObjectStoreContract {

    @TempDir
    Path directory;

    @Override
    ObjectStore open() throws IOException {
        return new LocalObjectStore(directory.resolve("store"), 2);
    }

    @Test
    void aDirectoryThatWentAwayIsNoEmptyBucket() throws Exception {
        try (LocalObjectStore store = new LocalObjectStore(directory.resolve("gone"), 1)) {
            get(store.put("k", ByteBuffer.allocate(10)));
            deleteTree(directory.resolve("gone"));
            assertFails(store.head("k"), StoreException.Kind.NO_BUCKET);
            assertFails(store.list("", Optional.empty(), 10), StoreException.Kind.NO_BUCKET);
            assertFails(store.get("k", 0, 1), StoreException.Kind.NO_BUCKET);
            assertFails(store.delete("k"), StoreException.Kind.NO_BUCKET);
        }
    }

    @Test
    void keysCannotLeaveTheDirectory() throws Exception {
        try (LocalObjectStore store = new LocalObjectStore(directory.resolve("safe"), 1)) {
            for (String key : new String[] {"../x", "a/../../x", "/etc/x", "a//x", "a/./x", "a b", "", "a/"}) {
                assertThatThrownBy(() -> store.put(key, ByteBuffer.allocate(1)))
                        .isInstanceOf(IllegalArgumentException.class);
            }
        }
        try (Stream<Path> files = Files.walk(directory.resolve("safe"))) {
            assertThat(files.filter(Files::isRegularFile)).isEmpty();
        }
    }

    @Test
    void directoriesGoWithTheirLastObjectAndComeBack() throws Exception {
        Path root = directory.resolve("dirs");
        try (LocalObjectStore store = new LocalObjectStore(root, 4)) {
            List<CompletableFuture<?>> calls = new ArrayList<>();
            for (int i = 0; i < 10_000; i++) {
                String key = "a/b/" + i % 3;
                calls.add(store.put(key, ByteBuffer.allocate(10)));
                calls.add(store.delete(key));
            }
            for (CompletableFuture<?> call : calls) {
                get(call);
            }
            get(store.deleteAll(List.of("a/b/0", "a/b/1", "a/b/2")));
            assertThat(root.resolve("objects")).isEmptyDirectory();
        }
    }

    /** A disk that is full must not be kept so by what didn't fit on it. */
    @Test
    void whatCouldNotBeWrittenTakesNoRoom() throws Exception {
        Path root = directory.resolve("cramped");
        try (LocalObjectStore store = new LocalObjectStore(root, 1)) {
            String upload = get(store.createUpload("k"));
            Files.createDirectories(root.resolve("uploads").resolve(upload).resolve("part-00001/in-the-way"));
            assertFails(store.putPart("k", upload, 1, ByteBuffer.allocate(10)), StoreException.Kind.DISK);
            Files.createDirectories(root.resolve("objects/taken/in-the-way"));
            assertFails(store.put("taken", ByteBuffer.allocate(10)), StoreException.Kind.DISK);
            assertThat(root.resolve("tmp")).isEmptyDirectory();
        }
    }

    @Test
    void whatKilledProcessesLeftIsDroppedAfterADay() throws Exception {
        Path temporary = directory.resolve("killed/tmp");
        Files.createDirectories(temporary);
        Path young = Files.writeString(temporary.resolve("young"), "x");
        Path old = Files.writeString(temporary.resolve("old"), "x");
        Files.setLastModifiedTime(old, FileTime.from(Instant.now().minus(Duration.ofHours(25))));
        new LocalObjectStore(directory.resolve("killed"), 1).close();
        assertThat(old).doesNotExist();
        assertThat(young).exists();
    }

    @Test
    void whatCannotBeTidiedKeepsNobodyFromOpening() throws Exception {
        Path left = Files.createDirectories(directory.resolve("strange/tmp/left"));
        Files.writeString(left.resolve("file"), "x");
        Files.setLastModifiedTime(left, FileTime.from(Instant.now().minus(Duration.ofHours(25))));
        try (LocalObjectStore store = new LocalObjectStore(directory.resolve("strange"), 1)) {
            get(store.put("k", ByteBuffer.allocate(10)));
        }
        assertThat(left).isDirectory();
    }

    @Test
    void aClosedStoreSaysSo() throws Exception {
        LocalObjectStore store = new LocalObjectStore(directory.resolve("closed"), 1);
        store.close();
        assertFails(store.head("k"), StoreException.Kind.CLOSED);
    }

    private static void deleteTree(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : (Iterable<Path>) files.sorted(Comparator.reverseOrder())::iterator) {
                Files.delete(file);
            }
        }
    }
}
