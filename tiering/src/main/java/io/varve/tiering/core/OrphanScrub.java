package io.varve.tiering.core;

import io.varve.base.PartitionId;
import java.util.Optional;

/**
 * Judges what a listing of the bucket found against what the metadata says (I-11). The listing must be older than the metadata's answer:
 * an object that was listed, and whose attempt the later answer neither names as done nor as live, can never be named again, because
 * attempt ids are never given twice. Age is asked for on top of that, so that one mistake isn't enough.
 */
public final class OrphanScrub {

    private final String clusterId;
    private final ObjectReferences references;
    private final long nowMs;
    private final long graceMs;

    /**
     * @param references taken after the listing, linearizable
     * @param graceMs what is younger is left alone
     */
    public OrphanScrub(String clusterId, ObjectReferences references, long nowMs, long graceMs) {
        this.clusterId = clusterId;
        this.references = references;
        this.nowMs = nowMs;
        this.graceMs = graceMs;
    }

    /** What an object is. */
    public enum Verdict {
        /** The metadata names it, and it has the length that it should have. */
        REFERENCED,
        /** The metadata names it with another length. An alarm; never deleted. */
        WRONG_LENGTH,
        /** Its attempt may be going on. */
        LIVE_ATTEMPT,
        /** Its deletion was ordered and is under way. */
        DUE_FOR_DELETION,
        /** Nothing names it, but it is too young to be sure of. */
        YOUNG,
        /** Of a partition whose manifest can't be read, so that nobody knows what it names. Never deleted. */
        UNKNOWN,
        /** A copy of the metadata; old ones are deleted by whoever takes the next. */
        BACKUP,
        /** Not a key that we give out. Never deleted. */
        FOREIGN,
        /** Left behind by an attempt that ended without a commit, or by a deletion that wasn't carried out. */
        ORPHAN
    }

    /**
     * Judges one object.
     *
     * @param modifiedMs the store's time of writing
     */
    public Verdict judge(String key, long length, long modifiedMs) {
        Long named = references.lengths().get(key);
        if (named != null) {
            return named == length ? Verdict.REFERENCED : Verdict.WRONG_LENGTH;
        }
        Optional<SegmentKey> segment = SegmentKey.parse(clusterId, key);
        Optional<ManifestKey> manifest = ManifestKey.parse(clusterId, key);
        if (segment.isEmpty() && manifest.isEmpty()) {
            return BackupKey.parse(clusterId, key).isPresent() ? Verdict.BACKUP : Verdict.FOREIGN;
        }
        PartitionId partition = segment.map(SegmentKey::partition)
                .orElseGet(() -> manifest.orElseThrow().partition());
        if (references.unreadable().containsKey(partition)) {
            return Verdict.UNKNOWN;
        }
        long attempt = segment.map(SegmentKey::attemptId)
                .orElseGet(() -> manifest.orElseThrow().generation());
        if (references.liveAttempts().contains(attempt)) {
            return Verdict.LIVE_ATTEMPT;
        }
        if (references.dueForDeletion().contains(key)) {
            return Verdict.DUE_FOR_DELETION;
        }
        return nowMs - modifiedMs < graceMs ? Verdict.YOUNG : Verdict.ORPHAN;
    }
}
