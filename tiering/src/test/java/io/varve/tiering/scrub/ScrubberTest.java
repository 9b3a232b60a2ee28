package io.varve.tiering.scrub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.Clock;
import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.ObjectKeys;
import io.varve.tiering.core.KeyRange;
import io.varve.tiering.core.ObjectReferences;
import io.varve.tiering.core.OrphanScrub;
import io.varve.tiering.core.OrphanScrub.Verdict;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.object.ObjectStore.Verb;
import io.varve.tiering.object.StoreException;
import io.varve.tiering.object.WrappedObjectStore;
import io.varve.tiering.testing.FaultyObjectStore;
import io.varve.tiering.testing.FaultyObjectStore.Fault;
import io.varve.tiering.testing.MemoryObjectStore;
import io.varve.tiering.testing.TestSegments;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Case C16: what crashes and half-done deletions leave behind is found, and nothing else is touched (I-11). */
class ScrubberTest {

    private static final long GRACE_MS = 1000;

    private long nowMs = 10_000;
    private final MemoryObjectStore memory = new MemoryObjectStore(() -> nowMs);
    private final FaultyObjectStore store = new FaultyObjectStore(memory);
    private final Clock clock = new Clock() {
        @Override
        public long nanoTime() {
            return nowMs * 1_000_000;
        }

        @Override
        public long wallTimeMs() {
            return nowMs;
        }
    };
    private final Scrubber scrubber = new Scrubber(store, TestSegments.CLUSTER, clock, GRACE_MS);

    private final TreeMap<String, Long> named = new TreeMap<>();
    private final TreeMap<PartitionId, String> unreadable = new TreeMap<>();
    private final TreeSet<Long> live = new TreeSet<>();
    private final TreeSet<String> due = new TreeSet<>();

    @Test
    void onlyWhatNothingNamesAndIsOldAndIsOursIsAnOrphan() {
        String committed = write(1, 100);
        name(committed, 100);
        String uploading = write(2, 100);
        live.add(2L);
        String deleting = write(3, 100);
        due.add(deleting);
        String orphan = write(4, 123);
        write(TestSegments.CLUSTER + "/manifest/x", 10);
        write("cluster-2/" + "0".repeat(32) + "/0/" + "0".repeat(20) + "-" + "0".repeat(16) + ".seg", 10);
        nowMs += GRACE_MS;
        write(5, 100);

        Scrubber.Report report = look();
        assertThat(report.orphans()).containsOnlyKeys(orphan).containsEntry(orphan, 123L);
        assertThat(report.orphanBytes()).isEqualTo(123);
        assertThat(report.counts())
                .containsEntry(Verdict.REFERENCED, 1L)
                .containsEntry(Verdict.LIVE_ATTEMPT, 1L)
                .containsEntry(Verdict.DUE_FOR_DELETION, 1L)
                .containsEntry(Verdict.YOUNG, 1L)
                .containsEntry(Verdict.FOREIGN, 1L);
        assertThat(store.calls(Verb.DELETE) + store.calls(Verb.BULK_DELETE)).isZero();

        Scrubber.Cleaned cleaned = scrubber.clean(report);
        assertThat(cleaned.left()).isEmpty();
        assertThat(cleaned.orphans()).isOne();
        assertThat(cleaned.bytes()).isEqualTo(123);
        assertThat(memory.objects()).hasSize(6).doesNotContainKey(orphan).containsKeys(committed, uploading, deleting);
        assertThat(look().isClean()).isTrue();
    }

    @Test
    void aNameWithoutAnObjectAndOneOfAnotherLengthAreAlarms() {
        name(key(1), 100);
        name(write(2, 99), 100);
        assertThat(look().wrong())
                .hasSize(2)
                .hasEntrySatisfying(key(1), why -> assertThat(why).contains("is not there"))
                .hasEntrySatisfying(key(2), why -> assertThat(why).contains("99 bytes"));
    }

    @Test
    void anObjectCommittedAfterTheBucketWasListedIsNotMissing() {
        Scrubber.Report late = scrubber.look(
                range -> {
                    name(write(9, 100), 100);
                    return references();
                },
                listed -> {});
        assertThat(late.wrong()).isEmpty();
    }

    @Test
    void rootsAndLeavesOfManifestsAreOrphansLikeOthers() {
        String root = ObjectKeys.manifestRoot(TestSegments.CLUSTER, TestSegments.PARTITION, 3);
        String leaf = ObjectKeys.manifestLeaf(TestSegments.CLUSTER, TestSegments.PARTITION, 3, 0);
        String atWork = ObjectKeys.manifestLeaf(TestSegments.CLUSTER, TestSegments.PARTITION, 4, 1);
        String named = ObjectKeys.manifestRoot(TestSegments.CLUSTER, TestSegments.PARTITION, 2);
        for (String key : List.of(root, leaf, atWork, named)) {
            write(key, 10);
        }
        live.add(4L);
        name(named, 10);
        nowMs += GRACE_MS;
        assertThat(look().orphans()).containsOnlyKeys(root, leaf);
    }

    @Test
    void whatAnUnreadableManifestMayNameIsNoOrphan() {
        write(1, 10);
        String elsewhere =
                ObjectKeys.segment(TestSegments.CLUSTER, new PartitionId(TestSegments.PARTITION.topic(), 99), 0, 2);
        write(elsewhere, 10);
        unreadable.put(TestSegments.PARTITION, "its root is missing");
        nowMs += GRACE_MS;
        Scrubber.Report report = look();
        assertThat(report.orphans()).containsOnlyKeys(elsewhere);
        assertThat(report.counts()).containsEntry(OrphanScrub.Verdict.UNKNOWN, 1L);
        assertThat(report.isClean()).isFalse();
        assertThat(report.wrong().values()).anyMatch(what -> what.contains("its root is missing"));
    }

    /** What compaction replaced can wait for days, if uploads are paused for as long: it is no orphan. */
    @Test
    void whatIsKeptUntilWhatReplacedItIsThereIsNoOrphan_I11() {
        String waiting = write(1, 10);
        String orphan = write(2, 10);
        nowMs += GRACE_MS;
        MetadataView view = (MetadataView) Proxy.newProxyInstance(
                ScrubberTest.class.getClassLoader(),
                new Class<?>[] {MetadataView.class},
                (proxy, method, args) -> method.getName().equals("replacedObjects") ? List.of(waiting) : List.of());
        Scrubber.Report report = scrubber.lookByView(() -> view, listed -> {});
        assertThat(report.orphans()).containsOnlyKeys(orphan);
        assertThat(report.counts()).containsEntry(Verdict.DUE_FOR_DELETION, 1L);
    }

    @Test
    void uploadsThatWereNeverCompletedAreDropped() throws Exception {
        memory.createUpload(key(1)).get();
        memory.createUpload("cluster-2/elsewhere").get();
        nowMs += GRACE_MS;
        memory.createUpload(key(2)).get();
        Scrubber.Report report = look();
        assertThat(report.staleUploads()).hasSize(1);
        assertThat(scrubber.clean(report).uploads()).isOne();
        assertThat(memory.openUploads()).isEqualTo(2);
    }

    @Test
    void anUploadThatCannotBeDroppedIsToldAndOneThatIsGoneIsDone() throws Exception {
        memory.createUpload(key(1)).get();
        memory.createUpload(key(2)).get();
        nowMs += GRACE_MS;
        Scrubber.Report report = look();
        store.once(Verb.ABORT_UPLOAD, new Fault.Fail(StoreException.Kind.FORBIDDEN));
        Scrubber.Cleaned cleaned = scrubber.clean(report);
        assertThat(cleaned.left()).containsOnlyKeys(key(1));
        assertThat(cleaned.uploads()).isOne();
        store.once(Verb.ABORT_UPLOAD, new Fault.Fail(StoreException.Kind.UPLOAD_GONE));
        assertThat(scrubber.clean(look()).left()).isEmpty();
    }

    @Test
    void uploadsLongBegunAreDroppedWithoutAnOperatorAndNobodyElses() throws Exception {
        memory.createUpload(key(1)).get();
        memory.createUpload("cluster-2/elsewhere").get();
        nowMs += GRACE_MS + 1;
        memory.createUpload(key(2)).get();
        assertThat(new StaleUploads(memory, TestSegments.CLUSTER, clock).drop(GRACE_MS))
                .isEqualTo(1);
        assertThat(memory.openUploads()).isEqualTo(2);
    }

    /** A bucket has more keys than memory: it is gone through side by side with the metadata, a stretch at a time. */
    @Test
    void aLargeBucketIsLookedAtInStretchesAndNothingIsMissedBetweenThem() {
        long keys = 3 * Scrubber.STRETCH + 17;
        Set<Long> orphans = Set.of(1L, Scrubber.STRETCH - 1L, (long) Scrubber.STRETCH, keys - 1);
        Set<Long> absent = Set.of(0L, Scrubber.STRETCH + 1L, 2L * Scrubber.STRETCH, keys);
        ObjectStore large = new ListedStore(keys, absent);
        List<KeyRange> asked = new ArrayList<>();
        nowMs += GRACE_MS;
        Scrubber.Report report = new Scrubber(large, TestSegments.CLUSTER, clock, GRACE_MS)
                .look(
                        range -> {
                            asked.add(range);
                            long from = range.offsetFrom(TestSegments.CLUSTER, TestSegments.PARTITION);
                            long upTo = Math.min(keys, range.offsetUpTo(TestSegments.CLUSTER, TestSegments.PARTITION));
                            TreeMap<String, Long> some = new TreeMap<>();
                            for (long number = from; number <= upTo; number++) {
                                String key = ListedStore.key(number);
                                if (range.contains(key) && !orphans.contains(number)) {
                                    some.put(key, ListedStore.BYTES);
                                }
                            }
                            assertThat(some).hasSizeLessThanOrEqualTo(Scrubber.STRETCH + absent.size());
                            return new ObjectReferences(some, live, due, unreadable);
                        },
                        listed -> {});
        assertThat(asked).hasSize(4);
        assertThat(asked.get(0).after()).isEmpty();
        for (int i = 1; i < asked.size(); i++) {
            assertThat(asked.get(i - 1).last()).hasValue(asked.get(i).after());
        }
        assertThat(asked.get(3).last()).isEmpty();
        assertThat(report.orphans().keySet())
                .containsExactlyInAnyOrderElementsOf(
                        orphans.stream().map(ListedStore::key).toList());
        assertThat(report.wrong().keySet())
                .containsExactlyInAnyOrderElementsOf(
                        absent.stream().map(ListedStore::key).toList());
        assertThat(report.counts()).containsEntry(Verdict.REFERENCED, keys - orphans.size() - absent.size() + 1);
    }

    /** A bucket of numbered objects that nobody has to hold: the object of each number begins at that offset. */
    private static final class ListedStore extends WrappedObjectStore {

        private static final long BYTES = 100;

        private final long keys;
        private final Set<Long> absent;

        ListedStore(long keys, Set<Long> absent) {
            super(new MemoryObjectStore());
            this.keys = keys;
            this.absent = absent;
        }

        static String key(long number) {
            return ObjectKeys.segment(TestSegments.CLUSTER, TestSegments.PARTITION, number, number);
        }

        @Override
        public CompletableFuture<Page<Stat>> list(String prefix, Optional<String> cursor, int max) {
            long from = cursor.map(Long::parseLong).orElse(0L);
            List<Stat> items = new ArrayList<>();
            long number = from;
            for (; number < keys && items.size() < max; number++) {
                if (!absent.contains(number)) {
                    items.add(new Stat(key(number), BYTES, 0));
                }
            }
            Optional<String> next = number < keys ? Optional.of(Long.toString(number)) : Optional.empty();
            return CompletableFuture.completedFuture(new Page<>(items, next));
        }

        @Override
        protected <T> CompletableFuture<T> around(
                Verb verb, String key, long bytes, Supplier<CompletableFuture<T>> call) {
            return call.get();
        }
    }

    /** C16.7: in a bucket that lets nothing be deleted nothing is, and each key is told. */
    @Test
    void anImmutableBucketIsReportedOn() {
        String orphan = write(1, 10);
        nowMs += GRACE_MS;
        store.always(Verb.BULK_DELETE, new Fault.Leave(List.of(orphan)));
        Scrubber.Report report = look();
        assertThat(report.orphans()).containsOnlyKeys(orphan);
        Scrubber.Cleaned cleaned = scrubber.clean(report);
        assertThat(cleaned.left()).containsOnlyKeys(orphan);
        assertThat(cleaned.orphans()).isZero();
        assertThat(cleaned.bytes()).isZero();
        assertThat(memory.objects()).containsOnlyKeys(orphan);
        store.always(Verb.BULK_DELETE, new Fault.Fail(StoreException.Kind.FORBIDDEN));
        assertThatThrownBy(() -> scrubber.clean(report)).isInstanceOf(StoreException.class);
        assertThat(memory.objects()).containsOnlyKeys(orphan);
    }

    /** S5, C16.5: a bulk delete answers well although some keys failed. */
    @Test
    void keysThatABulkDeleteLeftAreTriedAgain() {
        String orphan = write(1, 10);
        nowMs += GRACE_MS;
        store.once(Verb.BULK_DELETE, new Fault.Leave(List.of(orphan)));
        assertThat(scrubber.clean(look()).left()).isEmpty();
        assertThat(memory.objects()).isEmpty();

        String stubborn = write(2, 10);
        nowMs += GRACE_MS;
        store.always(Verb.BULK_DELETE, new Fault.Leave(List.of(stubborn)));
        assertThat(scrubber.clean(look()).left()).containsOnlyKeys(stubborn);
    }

    @Test
    void aBucketThatCannotBeListedTellsNothing() {
        name(key(1), 100);
        store.once(Verb.LIST, new Fault.Fail(StoreException.Kind.FORBIDDEN));
        assertThatThrownBy(this::look).isInstanceOf(StoreException.class);
    }

    private Scrubber.Report look() {
        return scrubber.look(range -> references(), listed -> {});
    }

    private ObjectReferences references() {
        return new ObjectReferences(named, live, due, unreadable);
    }

    private void name(String key, long length) {
        named.put(key, length);
    }

    private String write(long attemptId, int length) {
        return write(key(attemptId), length);
    }

    private String write(String key, int length) {
        memory.put(key, ByteBuffer.allocate(length)).join();
        return key;
    }

    private static String key(long attemptId) {
        return ObjectKeys.segment(TestSegments.CLUSTER, TestSegments.PARTITION, 0, attemptId);
    }
}
