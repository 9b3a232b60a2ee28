package io.varve.bookie.store;

import io.varve.base.SegmentId;
import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.RecordType;
import io.varve.bookie.core.SegmentReplica;
import io.varve.bookie.journal.JournalScanner;
import io.varve.protocol.storage.EntryFormat;
import java.nio.ByteBuffer;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.SortedMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the records of a journal make of a directory's replicas and fences, one after the other. Used by one thread, at the start. */
final class JournalReplay implements JournalScanner.Visitor {

    private static final Logger LOG = LoggerFactory.getLogger(JournalReplay.class);

    private final DirectoryStore directory;
    private final SortedMap<SegmentId, Replica> replicas;
    /** Whose checkpoints moved since the snapshot. */
    private final Set<Replica> settledAnew = new LinkedHashSet<>();
    /** Who came with all their checkpoints since the snapshot. */
    private final Set<Replica> imported = new LinkedHashSet<>();

    private boolean damaged;
    private int lost;

    /** @param replicas as the snapshot has them; changed by what is replayed */
    JournalReplay(DirectoryStore directory, SortedMap<SegmentId, Replica> replicas) {
        this.directory = directory;
        this.replicas = replicas;
    }

    /** Whose checkpoints moved since the snapshot. */
    Set<Replica> settledAnew() {
        return settledAnew;
    }

    /** Who came with all their checkpoints since the snapshot. */
    Set<Replica> imported() {
        return imported;
    }

    /** Whether records that were durable are missing, nobody knows whose. */
    boolean isDamaged() {
        return damaged;
    }

    /** Records that were durable are missing, nobody knows whose. */
    void setDamaged() {
        damaged = true;
    }

    /** How many replicas are no longer vouched for. */
    int lost() {
        return lost;
    }

    @Override
    public void onRecord(RecordType type, ByteBuffer record, int at, long file, long position) {
        int fixed = JournalFormat.fixedAt(at);
        if (!directory.shared.recoveryRule.applies(type)) {
            return;
        }
        switch (type) {
            case ENTRY -> onEntry(record, at, file, position);
            case CREATE -> onCreate(record, fixed);
            case FENCE ->
                directory.shared.fence(Records.partition(record, fixed)).raise(record.getInt(fixed + 20));
            case SEAL -> {
                Replica replica = replicas.get(Records.segment(record, fixed));
                if (replica != null) {
                    replica.state.seal(record.getInt(fixed + 16), record.getLong(fixed + 8));
                }
            }
            case DELETE -> replicas.remove(Records.segment(record, fixed));
            case CHECKPOINT -> {
                Replica replica = replicas.get(Records.segment(record, fixed));
                if (replica != null) {
                    CheckpointRef ref = new CheckpointRef(
                            record.getLong(fixed + 8),
                            file,
                            position,
                            JournalFormat.length(record, at) - type.fixedBytes());
                    replica.addCheckpoint(ref);
                    replica.onCheckpointDurable(ref);
                }
            }
            case SETTLED -> {
                Replica replica = replicas.get(Records.segment(record, fixed));
                if (replica != null) {
                    replica.settle(new Replica.Settled(record.getLong(fixed + 8), record.getLong(fixed + 16)));
                    replica.index.dropBelow(replica.settled.end());
                    settledAnew.add(replica);
                }
            }
            case QUARANTINE -> {
                Replica replica = replicas.get(Records.segment(record, fixed));
                if (replica != null) {
                    replica.health = ReplicaInfo.Health.QUARANTINED;
                }
            }
            case IMPORT -> onImport(record, fixed);
            case MARK -> {}
        }
    }

    private void onCreate(ByteBuffer record, int fixed) {
        SegmentId segment = Records.segment(record, fixed);
        replicas.putIfAbsent(
                segment,
                new Replica(
                        new SegmentReplica(
                                segment,
                                directory.shared.fence(Records.partition(record, fixed + 8)),
                                record.getInt(fixed + 28),
                                record.getLong(fixed + 32)),
                        directory,
                        Replica.Phase.LIVE));
    }

    private void onImport(ByteBuffer record, int fixed) {
        SegmentId segment = Records.segment(record, fixed);
        long end = record.getLong(fixed + 40);
        Replica replica = new Replica(
                new SegmentReplica(
                        segment,
                        directory.shared.fence(Records.partition(record, fixed + 8)),
                        record.getInt(fixed + 28),
                        record.getLong(fixed + 32),
                        end,
                        end,
                        end,
                        Integer.MAX_VALUE),
                directory,
                Replica.Phase.LIVE);
        replica.bytes = record.getLong(fixed + 48);
        replica.settle(new Replica.Settled(end, replica.bytes));
        replicas.put(segment, replica);
        imported.add(replica);
    }

    private void onEntry(ByteBuffer record, int at, long file, long position) {
        Replica replica = replicas.get(Records.segment(record, JournalFormat.fixedAt(at)));
        if (replica == null) {
            // Deleted later on would be here still; so its creation is among what is missing.
            damaged = true;
            return;
        }
        int entry = at + JournalFormat.ENTRY_AT;
        long first = EntryFormat.firstOffset(record, entry);
        long end = EntryFormat.lastOffset(record, entry) + 1;
        int bytes = EntryFormat.HEADER_BYTES + EntryFormat.payloadLength(record, entry);
        if (first != replica.state.acceptedEnd()) {
            lose(replica, "an entry is missing before offset " + first);
            return;
        }
        index(replica, file, position, first, end, bytes);
        replica.state.accept(first, end - 1, record.getLong(JournalFormat.fixedAt(at) + 8));
        replica.state.onDurable(end);
        replica.bytes += bytes;
    }

    @Override
    public void onSegmentDamaged(RecordType type, ByteBuffer record, int at, long file, long position) {
        if (type == RecordType.ENTRY) {
            Replica replica = replicas.get(Records.segment(record, JournalFormat.fixedAt(at)));
            if (replica != null) {
                lose(replica, "an entry in journal file " + file + " is damaged at " + position);
            }
        }
    }

    @Override
    public void onJournalDamaged(long file, long position) {
        LOG.error("journal=damaged directory={} file={} position={}", directory.disk.name(), file, position);
        damaged = true;
    }

    /** For entries of files whose control records the snapshot has. */
    void addToIndex(SegmentId segment, long file, long position, long first, long end, int bytes) {
        Replica replica = replicas.get(segment);
        if (replica != null && end > replica.settled.end() && end <= replica.state.acceptedEnd()) {
            index(replica, file, position, first, end, bytes);
        }
    }

    /**
     * A file in between may be gone, because all that was in it has been settled since the snapshot: the record that says so comes later. Whether what is left is
     * whole is checked at the end.
     */
    private static void index(Replica replica, long file, long position, long first, long end, int bytes) {
        if (!replica.index.add(file, position, first, end, bytes)) {
            replica.index.clear();
            replica.index.add(file, position, first, end, bytes);
        }
    }

    /** From now on a replica isn't vouched for. */
    void lose(Replica replica, String why) {
        if (replica.isIntact()) {
            replica.health = ReplicaInfo.Health.LOST;
            LOG.debug("replica=lost segment={} directory={} why=\"{}\"", replica.id(), directory.disk.name(), why);
            lost++;
            directory.onDamageFound(replica, why);
        }
    }
}
