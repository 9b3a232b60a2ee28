package io.varve.tiering.object;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** I-10: what the store has answered for is there after the machine lost its power. It may hold the only copy. */
@Timeout(60)
class LocalObjectStoreCrashTest {

    @TempDir
    private Path parent;

    private final CrashAccount account = new CrashAccount();
    private Path root;
    private LocalObjectStore store;

    @BeforeEach
    void open() throws IOException {
        root = parent.resolve("above/store").toAbsolutePath();
        store = new LocalObjectStore(root, 2, account);
    }

    @AfterEach
    void close() {
        store.close();
        assertThat(account.shownTooEarly())
                .as("named before all of it was on the disk")
                .isEmpty();
    }

    @Test
    void anObjectOutlivesACrashWithAllDirectoriesAboveIt() throws Exception {
        get(store.put("a/b/c", bytes()));
        assertSurvives("a/b/c");
        get(store.put("a/b/d", bytes()));
        assertSurvives("a/b/d");
        get(store.put("top", bytes()));
        assertSurvives("top");
        get(store.put("a/b/c", bytes()));
        assertSurvives("a/b/c");
    }

    @Test
    void anObjectInPartsOutlivesACrash() throws Exception {
        String upload = get(store.createUpload("x/parts"));
        List<ObjectStore.Part> parts = new ArrayList<>();
        for (int number = 1; number <= 3; number++) {
            parts.add(get(store.putPart("x/parts", upload, number, bytes())));
        }
        get(store.completeUpload("x/parts", upload, parts));
        assertSurvives("x/parts");
        assertThat(Files.size(file("x/parts"))).isEqualTo(300);
    }

    /** Whoever made the directory may be another process, which had no time to force it. */
    @Test
    void directoriesThatOthersMadeAreForcedToo() throws Exception {
        account.createDirectory(file("others"));
        account.createDirectory(file("others/deep"));
        get(store.put("others/deep/object", bytes()));
        assertSurvives("others/deep/object");
    }

    @Test
    void aStoreThatOthersMadeIsForcedToo() throws Exception {
        Path made = Files.createDirectory(parent.resolve("made")).toAbsolutePath();
        for (String directory : List.of("objects", "uploads", "tmp")) {
            account.createDirectory(made.resolve(directory));
        }
        try (LocalObjectStore other = new LocalObjectStore(made, 1, account)) {
            get(other.put("key", bytes()));
        }
        assertThat(account.survives(made.resolve("objects/key"))).isTrue();
    }

    @Test
    void whatWasDeletedStaysSo() throws Exception {
        for (String key : List.of("a/b/c", "a/b/d", "e/f/g", "e/h", "i/j")) {
            get(store.put(key, bytes()));
        }
        get(store.delete("a/b/c"));
        assertThat(account.staysDeleted(file("a/b/c")))
                .as("its directory has another")
                .isTrue();
        get(store.delete("a/b/d"));
        assertThat(account.staysDeleted(file("a/b/d")))
                .as("and goes with the last")
                .isTrue();
        get(store.deleteAll(List.of("e/f/g", "i/j")));
        assertThat(account.staysDeleted(file("e/f/g"))).isTrue();
        assertThat(account.staysDeleted(file("i/j"))).isTrue();
        assertSurvives("e/h");
    }

    private void assertSurvives(String key) {
        assertThat(account.survives(file(key)))
                .as("%s, with names that may be lost in %s", key, account.unforcedAbove(file(key)))
                .isTrue();
    }

    private Path file(String key) {
        return root.resolve("objects").resolve(key);
    }

    private static ByteBuffer bytes() {
        return ByteBuffer.allocate(100);
    }

    private static <T> T get(CompletableFuture<T> answer) throws Exception {
        return answer.get(30, TimeUnit.SECONDS);
    }
}
