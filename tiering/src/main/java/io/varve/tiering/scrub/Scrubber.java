package io.varve.tiering.scrub;

import io.varve.base.Clock;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.ObjectKeys;
import io.varve.tiering.core.KeyRange;
import io.varve.tiering.core.ObjectReferences;
import io.varve.tiering.core.OrphanScrub;
import io.varve.tiering.manifest.ManifestWalk;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.object.StoreException;
import io.varve.tiering.object.StoreFailures;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

/**
 * Finds orphans of both kinds (I-11): objects that nothing names, and names without an object. Looks at its own cluster's keys only. Used by
 * one thread, which it blocks.
 *
 * <p>Bucket and metadata are gone through side by side, a stretch of keys at a time, for a bucket may hold more keys than memory does. Of each stretch the metadata is asked
 * after it was listed, which is what {@link OrphanScrub} builds on.
 */
public final class Scrubber {

    private static final int PAGE = 1000;

    /** Keys that are looked at together: so many of the bucket's, and of the metadata's, are in memory. */
    static final int STRETCH = 10_000;

    /** So many are told in one look. */
    static final int ORPHANS_MAX = 100_000;

    private static final int DELETE_TRIES = 3;

    private final ObjectStore store;
    private final String clusterId;
    private final Clock clock;
    private final long graceMs;

    /** @param graceMs what is younger is left alone; also of uploads that were never completed */
    public Scrubber(ObjectStore store, String clusterId, Clock clock, long graceMs) {
        this.store = store;
        this.clusterId = clusterId;
        this.clock = clock;
        this.graceMs = graceMs;
    }

    /**
     * What was found.
     *
     * @param counts objects by verdict
     * @param orphans keys that nothing names, with their lengths; the first of them if there are very many
     * @param orphansLeftOut how many more there are: another look finds them when those are gone
     * @param wrong what is wrong with named objects, by key: missing, or of another length. Alarms
     * @param staleUploads begun long ago and never completed
     */
    public record Report(
            Map<OrphanScrub.Verdict, Long> counts,
            TreeMap<String, Long> orphans,
            long orphansLeftOut,
            TreeMap<String, String> wrong,
            List<ObjectStore.Upload> staleUploads) {

        /** The keys of the uploads that were begun long ago and never completed. */
        public List<String> staleUploadKeys() {
            return staleUploads.stream().map(ObjectStore.Upload::key).toList();
        }

        /** Bytes that deleting the orphans would give back. */
        public long orphanBytes() {
            return orphans.values().stream().mapToLong(Long::longValue).sum();
        }

        /** Whether there is nothing in the bucket that should go. */
        public boolean isTidy() {
            return orphans.isEmpty() && staleUploads.isEmpty();
        }

        /** Whether bucket and metadata agree. */
        public boolean isClean() {
            return isTidy() && wrong.isEmpty();
        }
    }

    /**
     * What was deleted.
     *
     * @param orphans how many objects
     * @param bytes theirs
     * @param uploads how many that were never completed
     * @param left what could not be deleted and why, by key
     */
    public record Cleaned(long orphans, long bytes, long uploads, Map<String, String> left) {}

    /** Says what is named. */
    @FunctionalInterface
    public interface References {
        /**
         * What the metadata knows of some keys, as of a moment after the call; linearizable.
         *
         * @param range others may be left out, and are not looked at
         */
        ObjectReferences in(KeyRange range);
    }

    /**
     * Looks, and changes nothing.
     *
     * @param references asked for each stretch of keys after it was listed
     * @param progress is told how many objects were listed so far
     * @throws StoreException if the bucket can't be listed: then nothing is known
     */
    public Report look(References references, LongConsumer progress) {
        Look look = new Look(references);
        List<ObjectStore.Stat> stretch = new ArrayList<>();
        Optional<String> cursor = Optional.empty();
        long listed = 0;
        do {
            ObjectStore.Page<ObjectStore.Stat> page =
                    get(store.list(ObjectKeys.clusterPrefix(clusterId), cursor, PAGE));
            stretch.addAll(page.items());
            listed += page.items().size();
            progress.accept(listed);
            cursor = page.cursor();
            if (stretch.size() >= STRETCH || cursor.isEmpty()) {
                look.through(stretch, cursor.isEmpty());
                stretch.clear();
            }
        } while (cursor.isPresent());
        return new Report(look.counts, look.orphans, look.orphansLeftOut, look.wrong, staleUploads(look.nowMs));
    }

    /** What was found so far. */
    private final class Look {

        private final References references;
        private final long nowMs = clock.wallTimeMs();
        private final Map<OrphanScrub.Verdict, Long> counts = new EnumMap<>(OrphanScrub.Verdict.class);
        private final TreeMap<String, Long> orphans = new TreeMap<>();
        private final TreeMap<String, String> wrong = new TreeMap<>();
        private long orphansLeftOut;
        private String after = "";

        Look(References references) {
            this.references = references;
        }

        /** Keys that follow those before, in order. */
        void through(List<ObjectStore.Stat> listed, boolean isEnd) {
            Optional<String> last = isEnd
                    ? Optional.empty()
                    : Optional.of(listed.get(listed.size() - 1).key());
            KeyRange range = new KeyRange(after, last);
            ObjectReferences named = references.in(range);
            named.unreadable().forEach((partition, why) -> wrong.put(partition + "/manifest", "can't be read: " + why));
            OrphanScrub scrub = new OrphanScrub(clusterId, named, nowMs, graceMs);
            TreeSet<String> missing = new TreeSet<>(named.lengths().keySet());
            missing.removeIf(key -> !range.contains(key));
            for (ObjectStore.Stat object : listed) {
                missing.remove(object.key());
                judge(object, scrub, named);
            }
            // Written after the listing went by, or not there at all: the store's word on the one key decides.
            for (String key : missing) {
                if (get(store.head(key)).isEmpty()) {
                    wrong.put(key, "is not there, the metadata names it");
                }
            }
            after = last.orElse(after);
        }

        private void judge(ObjectStore.Stat object, OrphanScrub scrub, ObjectReferences named) {
            OrphanScrub.Verdict verdict = scrub.judge(object.key(), object.length(), object.modifiedMs());
            counts.merge(verdict, 1L, Long::sum);
            if (verdict == OrphanScrub.Verdict.ORPHAN && orphans.size() < ORPHANS_MAX) {
                orphans.put(object.key(), object.length());
            } else if (verdict == OrphanScrub.Verdict.ORPHAN) {
                orphansLeftOut++;
            } else if (verdict == OrphanScrub.Verdict.WRONG_LENGTH) {
                wrong.put(
                        object.key(),
                        "has " + object.length() + " bytes, the metadata says "
                                + named.lengths().get(object.key()));
            }
        }
    }

    /**
     * {@link #look(References, LongConsumer)} by what metadata views name, and the manifests that they point to.
     *
     * @param view asked for after the listing of each stretch of keys, and again if a manifest was replaced while it was read; linearizable
     */
    public Report lookByView(Supplier<MetadataView> view, LongConsumer progress) {
        ManifestWalk manifests = new ManifestWalk(store, clusterId);
        return look(range -> new ReferenceCollector(manifests, clusterId, view, range).collect(), progress);
    }

    /** Deletes the orphans of a report and drops its stale uploads; alarms are left to people. */
    public Cleaned clean(Report report) {
        Map<String, String> left = new TreeMap<>();
        List<String> keys = new ArrayList<>(report.orphans().keySet());
        for (int from = 0; from < keys.size(); from += ObjectStore.BULK_DELETE_KEYS_MAX) {
            List<String> some = keys.subList(from, Math.min(keys.size(), from + ObjectStore.BULK_DELETE_KEYS_MAX));
            left.putAll(deleteAll(some));
        }
        long bytes = report.orphanBytes();
        for (String key : left.keySet()) {
            bytes -= report.orphans().get(key);
        }
        long orphans = keys.size() - left.size();
        long uploads = 0;
        for (ObjectStore.Upload upload : report.staleUploads()) {
            Optional<String> why = abort(upload);
            uploads += why.isEmpty() ? 1 : 0;
            why.ifPresent(said -> left.put(upload.key(), said));
        }
        return new Cleaned(orphans, bytes, uploads, left);
    }

    /** @return why it is still there; empty if it isn't */
    private Optional<String> abort(ObjectStore.Upload upload) {
        try {
            get(store.abortUpload(upload.key(), upload.uploadId()));
            return Optional.empty();
        } catch (StoreException e) {
            return e.kind() == StoreException.Kind.UPLOAD_GONE ? Optional.empty() : Optional.of(e.getMessage());
        }
    }

    /** A bulk delete answers well although some keys failed: those are tried again, and in the end by themselves. */
    private Map<String, String> deleteAll(List<String> keys) {
        List<String> rest = keys;
        Map<String, String> failed = new TreeMap<>();
        for (int tries = 0; tries < DELETE_TRIES && !rest.isEmpty(); tries++) {
            failed = get(store.deleteAll(rest));
            rest = new ArrayList<>(failed.keySet());
        }
        return failed;
    }

    private List<ObjectStore.Upload> staleUploads(long nowMs) {
        List<ObjectStore.Upload> stale = new ArrayList<>();
        Optional<String> cursor = Optional.empty();
        do {
            ObjectStore.Page<ObjectStore.Upload> page = get(store.uploads(ObjectKeys.clusterPrefix(clusterId), cursor));
            page.items().stream()
                    .filter(upload -> nowMs - upload.initiatedMs() >= graceMs)
                    .forEach(stale::add);
            cursor = page.cursor();
        } while (cursor.isPresent());
        return stale;
    }

    private static <T> T get(CompletableFuture<T> answer) {
        try {
            return answer.join();
        } catch (CompletionException e) {
            throw StoreFailures.of(e);
        }
    }
}
