package io.varve.tiering.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.tiering.object.StoreException.Kind;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What every store must do, the same for all of them. */
abstract class ObjectStoreContract {

    private static final int MIB = 1024 * 1024;

    private ObjectStore store;

    /** An empty store, or an empty prefix of one. */
    abstract ObjectStore open() throws Exception;

    @BeforeEach
    void openStore() throws Exception {
        store = open();
    }

    @AfterEach
    void closeStore() {
        store.close();
    }

    @Test
    void whatIsPutIsThereWithItsLength() throws Exception {
        ByteBuffer bytes = noise(100_000, 1);
        get(store.put("a/b-c_d.seg", bytes));
        assertThat(bytes.remaining()).isEqualTo(100_000);
        assertThat(get(store.head("a/b-c_d.seg")))
                .hasValueSatisfying(s -> assertThat(s.length()).isEqualTo(100_000));
        assertThat(get(store.get("a/b-c_d.seg", 0, 100_000))).isEqualTo(bytes);
    }

    @Test
    void anyRangeIsReadExactly() throws Exception {
        ByteBuffer bytes = noise(70_000, 2);
        get(store.put("r", bytes));
        for (int[] range : new int[][] {{0, 1}, {0, 70_000}, {69_999, 1}, {12_345, 40_000}, {5, 0}}) {
            assertThat(get(store.get("r", range[0], range[1]))).isEqualTo(bytes.slice(range[0], range[1]));
        }
    }

    @Test
    void aRangeBeyondTheEndIsTruncatedAndNeverShort() throws Exception {
        get(store.put("r", noise(1000, 3)));
        assertFails(store.get("r", 900, 200), Kind.TRUNCATED);
        assertFails(store.get("r", 1000, 10), Kind.TRUNCATED);
    }

    @Test
    void whatIsNotThereIsToldApartFromTrouble() throws Exception {
        assertThat(get(store.head("no/such"))).isEmpty();
        assertFails(store.get("no/such", 0, 10), Kind.NOT_FOUND);
        get(store.delete("no/such"));
    }

    @Test
    void aDeletedObjectIsGone() throws Exception {
        get(store.put("d/1", noise(10, 4)));
        get(store.delete("d/1"));
        assertThat(get(store.head("d/1"))).isEmpty();
        assertFails(store.get("d/1", 0, 10), Kind.NOT_FOUND);
    }

    @Test
    void partsAreJoinedInTheirOrder() throws Exception {
        ByteBuffer first = noise(5 * MIB, 5);
        ByteBuffer second = noise(5 * MIB, 6);
        ByteBuffer last = noise(12_345, 7);
        String upload = get(store.createUpload("m/1"));
        ObjectStore.Part two = get(store.putPart("m/1", upload, 2, second));
        ObjectStore.Part one = get(store.putPart("m/1", upload, 1, first));
        ObjectStore.Part three = get(store.putPart("m/1", upload, 3, last));
        assertThat(get(store.head("m/1"))).isEmpty();
        get(store.completeUpload("m/1", upload, List.of(one, two, three)));
        assertThat(get(store.head("m/1")))
                .hasValueSatisfying(s -> assertThat(s.length()).isEqualTo(10L * MIB + 12_345));
        assertThat(get(store.get("m/1", 0, 5 * MIB))).isEqualTo(first);
        assertThat(get(store.get("m/1", 5 * MIB, 5 * MIB))).isEqualTo(second);
        assertThat(get(store.get("m/1", 10 * MIB, 12_345))).isEqualTo(last);
    }

    @Test
    void anAbortedUploadLeavesNothing() throws Exception {
        String upload = get(store.createUpload("m/2"));
        get(store.putPart("m/2", upload, 1, noise(5 * MIB, 8)));
        assertThat(get(store.uploads("m/", Optional.empty())).items())
                .extracting(ObjectStore.Upload::uploadId)
                .containsExactly(upload);
        get(store.abortUpload("m/2", upload));
        get(store.abortUpload("m/2", upload));
        assertThat(get(store.uploads("m/", Optional.empty())).items()).isEmpty();
        assertThat(get(store.head("m/2"))).isEmpty();
        if (refusesPartsOfAbortedUploads()) {
            assertFails(store.putPart("m/2", upload, 2, noise(10, 9)), Kind.UPLOAD_GONE);
        }
    }

    /** Whether the store says at once, and not only on completion, that an upload is gone. */
    boolean refusesPartsOfAbortedUploads() {
        return true;
    }

    @Test
    void listingGoesPageByPageInOrderWithinThePrefix() throws Exception {
        List<String> keys = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            keys.add(String.format("l/%02d/x", i));
            get(store.put(keys.get(i), noise(i + 1, i)));
        }
        get(store.put("l0/x", noise(5, 1)));
        List<String> listed = new ArrayList<>();
        Optional<String> cursor = Optional.empty();
        do {
            ObjectStore.Page<ObjectStore.Stat> page = get(store.list("l/", cursor, 10));
            assertThat(page.items()).hasSizeLessThanOrEqualTo(10);
            page.items().forEach(o -> listed.add(o.key()));
            cursor = page.cursor();
        } while (cursor.isPresent());
        assertThat(listed).isEqualTo(keys);
    }

    @Test
    void manyAreDeletedAtOnceThoseThatAreNotThereToo() throws Exception {
        List<String> keys = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            keys.add("bulk/" + i);
            if (i % 2 == 0) {
                get(store.put(keys.get(i), noise(10, i)));
            }
        }
        get(store.put("bulk2/keep", noise(10, 1)));
        assertThat(get(store.deleteAll(keys))).isEmpty();
        assertThat(get(store.list("bulk/", Optional.empty(), 100)).items()).isEmpty();
        assertThat(get(store.head("bulk2/keep"))).isPresent();
    }

    @Test
    void theProbeFindsNothingWrongAndLeavesNothing() throws Exception {
        BucketProbe.Verdict verdict = get(new BucketProbe(store, "", "1").run());
        assertThat(verdict.line()).endsWith("work");
        assertThat(verdict.isSound()).isTrue();
        assertThat(get(store.list("probe/", Optional.empty(), 100)).items()).isEmpty();
    }

    private static ByteBuffer noise(int length, long seed) {
        byte[] bytes = new byte[length];
        new SplittableRandom(seed).nextBytes(bytes);
        return ByteBuffer.wrap(bytes);
    }

    static <T> T get(CompletableFuture<T> answer) throws Exception {
        return answer.get(60, TimeUnit.SECONDS);
    }

    static AbstractThrowableAssert<?, ?> assertFails(CompletableFuture<?> answer, Kind kind) {
        return assertThatThrownBy(() -> get(answer))
                .satisfies(e -> assertThat(StoreFailures.of(e).kind()).isEqualTo(kind));
    }
}
