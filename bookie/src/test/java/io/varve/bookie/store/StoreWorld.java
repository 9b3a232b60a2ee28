package io.varve.bookie.store;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.varve.base.BookieId;
import io.varve.base.Clock;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.bookie.client.BookieClient.CheckpointReply;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieClient.FenceRequest;
import io.varve.bookie.client.BookieClient.ReadReply;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.core.JournalRecovery;
import io.varve.bookie.core.RecoveryRule;
import io.varve.bookie.disk.Disk;
import io.varve.bookie.disk.DiskFullException;
import io.varve.bookie.disk.SimDisk;
import io.varve.bookie.disk.SimDisk.PowerCut;
import io.varve.bookie.journal.JournalSteps;
import io.varve.sim.SimRandomness;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;

/** One history of one store: its disks, its lives, what is asked of it, and the oracle that watches. All from one seed, on one thread. */
final class StoreWorld {

    private static final int PARTITIONS = 3;
    private static final long SLOW_NS = 200_000_000;

    final SplittableRandom random;
    final StoreOracle oracle = new StoreOracle();
    final List<SimDisk> disks = new ArrayList<>();
    final List<String> trace = new ArrayList<>();
    RecoveryRule rule = JournalRecovery::decide;
    private final List<Life> lives = new ArrayList<>();
    private final SegmentReader reader = new SegmentReader(ByteBufAllocator.DEFAULT);
    private LocalSegmentStore store;
    private long nextSegment = 1;
    private long timeNs;
    private final TreeMap<Long, SimImport> imports = new TreeMap<>();
    private final TreeSet<Long> slowTold = new TreeSet<>();
    private int slowGroups;
    int importsDone;
    int timesFull;
    boolean mayBeUnknown;
    boolean mayFail;
    /** In this life: a full directory drops checkpoints without a word. */
    private boolean hasBeenFull;

    int unknownAnswers;

    private record Life(DirectoryStore directory, JournalSteps steps, Housekeeping housekeeping, Settler settler) {}

    StoreWorld(long seed, int diskCount) {
        random = new SplittableRandom(seed);
        for (int at = 0; at < diskCount; at++) {
            disks.add(new SimDisk("disk-" + at, random.nextLong()));
        }
    }

    /** The same history, gone on with on another disk. */
    StoreWorld copyWith(SimDisk disk) {
        StoreWorld copy = new StoreWorld(1, 0);
        copy.disks.add(disk);
        copy.oracle.copyFrom(oracle);
        return copy;
    }

    /** Appends a few entries, and encodes them into a group that isn't written. */
    void beginGroup() {
        for (int at = 0; at < 12; at++) {
            append();
        }
        lives.forEach(life -> life.steps.work());
    }

    /** Writes that group, and tells nobody. */
    void flushUntold() {
        lives.forEach(life -> life.steps.flush(0));
    }

    private boolean flush(Life life) {
        SimDisk disk = (SimDisk) life.directory.disk;
        boolean flushed = life.steps.flush(disk.forceNs());
        slowGroups += flushed && disk == disks.get(0) && disk.forceNs() > SLOW_NS ? 1 : 0;
        return flushed;
    }

    /** From now on the first disk is slow, or isn't any more. */
    void beSlow(boolean slow) {
        trace.add(slow ? "slower" : "faster");
        disks.get(0).setForceNs(slow ? 2 * SLOW_NS : 100_000);
        slowGroups = 0;
    }

    /** Whoever made so many groups durable on a slow disk has been told so. */
    void checkSlowIsTold() {
        boolean outOfService = lives.stream().anyMatch(life -> life.directory.isOutOfService());
        StoreOracle.require(
                slowGroups < 60 || outOfService || !slowTold.isEmpty(),
                "nobody was told of a slow disk: " + slowGroups);
    }

    /** From now on the first disk has so little room. */
    void fillUp(int bytesLeft) {
        trace.add("full but for " + bytesLeft);
        timesFull++;
        hasBeenFull = true;
        disks.get(0).setQuota(disks.get(0).usedBytes() + bytesLeft);
    }

    /** There is room again, and time has passed. */
    void makeRoom() {
        trace.add("room again");
        disks.forEach(disk -> disk.setQuota(Long.MAX_VALUE));
        timeNs += 60_000_000_000L;
    }

    private StoreOptions options() {
        return new StoreOptions(
                "simulated",
                new BookieId(1),
                List.of(Path.of("simulated")),
                64 * 1024,
                true,
                16 * 1024,
                1024 * 1024,
                32 * 1024,
                // Room for a few rows only, so that indexes are read again and again.
                256,
                6 * 1024,
                1024 * 1024,
                1024 * 1024,
                256 * 1024,
                1,
                1,
                0,
                1);
    }

    /** Starts the store, and lets the oracle look at everything it says it has. */
    void open() throws IOException {
        lives.clear();
        for (SimImport copy : imports.values()) {
            copy.onRestart();
            // Whether it took the old replica's place nobody was told.
            copy.segment().incarnation = copy.isSubmitted() ? 0 : copy.segment().incarnation;
        }
        imports.values().removeIf(SimImport::isSubmitted);
        slowTold.clear();
        hasBeenFull = false;
        slowGroups = 0;
        trace.add("open");
        Clock clock = new Clock() {
            @Override
            public long nanoTime() {
                return timeNs += 1000;
            }

            @Override
            public long wallTimeMs() {
                return timeNs / 1_000_000;
            }
        };
        store = LocalSegmentStore.open(
                options(),
                List.<Disk>copyOf(disks),
                new StoreEnvironment(
                        clock,
                        new SimRandomness(random.nextLong()),
                        (where, fault) -> {
                            throw new AssertionError(where, fault);
                        },
                        new Heard(),
                        new SimpleMeterRegistry(),
                        rule,
                        this::drive));
        trace.add("serving");
        checkAll();
    }

    private final class Heard implements StoreListener {
        @Override
        public void onSlowDiskChanged(long incarnation, boolean slow) {
            trace.add("slow " + slow);
            if (slow) {
                slowTold.add(incarnation);
            } else {
                slowTold.remove(incarnation);
            }
        }

        @Override
        public void onDirectoryLost(long incarnation, String why) {
            trace.add("directory lost: " + why);
            StoreOracle.require(mayFail, "a directory went out of service: " + why);
        }
    }

    private java.io.Closeable drive(DirectoryStore directory) throws IOException {
        JournalSteps steps = new JournalSteps(directory.start());
        directory.attach(steps::submit);
        lives.add(new Life(
                directory, steps, new Housekeeping(directory, () -> {}), new Settler(directory, bytes -> true)));
        return directory::close;
    }

    /** So many things asked and steps made, in any order. With the power cut, nobody is left to do more in this life. */
    void live(int actions) {
        try {
            for (int at = 0; at < actions && !lives.isEmpty(); at++) {
                act();
            }
        } catch (PowerCut cut) {
            die();
        }
    }

    private void die() {
        trace.add("power cut");
        lives.clear();
    }

    private void act() {
        switch (random.nextInt(22)) {
            case 0 -> create();
            case 1, 2, 3, 4, 5, 6 -> append();
            case 7 -> repeatOrSkip();
            case 8 -> checkpoint();
            case 9 -> fence();
            case 10 -> {
                if (random.nextInt(3) == 0) {
                    seal();
                }
            }
            case 11 -> {
                if (random.nextInt(3) == 0) {
                    delete();
                }
            }
            case 12 -> read();
            case 13 -> housekeep();
            case 14 -> {
                if (random.nextInt(4) == 0) {
                    anyLife().steps.mark();
                }
            }
            case 15, 16 -> anyLife().steps.work();
            case 17, 18 -> flush(anyLife());
            case 19, 20 -> importSome();
            default -> settle();
        }
    }

    /** Does all that is due. */
    void settleDown() {
        try {
            boolean more = true;
            while (more) {
                more = false;
                for (Life life : lives) {
                    more |= life.steps.work();
                    more |= flush(life);
                    more |= housekeep(life);
                    more |= settle(life);
                }
            }
        } catch (PowerCut cut) {
            die();
        }
    }

    /** As {@link #settleDown}, with the mark that a quiet journal gets. */
    void closeCleanly() {
        settleDown();
        lives.forEach(life -> life.steps.mark());
        settleDown();
    }

    private Life anyLife() {
        return lives.get(random.nextInt(lives.size()));
    }

    private StoreOracle.Segment anySegment() {
        if (oracle.segments.isEmpty()) {
            return null;
        }
        List<StoreOracle.Segment> all = new ArrayList<>(oracle.segments.values());
        return all.get(random.nextInt(all.size()));
    }

    static PartitionId partition(int index) {
        return new PartitionId(new TopicId(11, 12), index);
    }

    private void create() {
        int partition = random.nextInt(PARTITIONS);
        int epoch = Math.max(1, oracle.fenceOf(partition) + random.nextInt(3) - 1);
        StoreOracle.Segment segment = new StoreOracle.Segment(nextSegment++, partition, epoch, random.nextInt(1000));
        int fenceWhenAsked = oracle.fenceOf(partition);
        oracle.segments.put(segment.id, segment);
        trace.add("create " + segment.id);
        store.createSegment(
                partition(partition),
                new SegmentId(segment.id),
                epoch,
                segment.start,
                0,
                (status, end, incarnation) -> {
                    StoreOracle.require(
                            status != BookieStatus.OK || fenceWhenAsked <= epoch,
                            "I-4 created below the fence: segment " + segment.id);
                    if (status == BookieStatus.OK) {
                        segment.created = true;
                        segment.incarnation = incarnation;
                    } else if (status != BookieStatus.UNKNOWN) {
                        oracle.segments.remove(segment.id);
                    }
                });
    }

    private void append() {
        StoreOracle.Segment segment = anySegment();
        if (segment == null || segment.over) {
            return;
        }
        long first = segment.submittedEnd();
        byte[] payload = new byte[random.nextInt(10) == 0 ? random.nextInt(6000) : random.nextInt(300)];
        random.nextBytes(payload);
        StoreOracle.Entry entry = new StoreOracle.Entry(first, first + random.nextInt(5), payload);
        segment.submitted.put(first, entry);
        submit(segment, entry);
    }

    private void submit(StoreOracle.Segment segment, StoreOracle.Entry entry) {
        ByteBuf bytes = Unpooled.wrappedBuffer(entry.payload());
        int crc = EntryChecks.checksum(entry.first(), entry.last(), bytes);
        int fenceWhenAsked = oracle.fenceOf(segment.partition);
        // A copy's checkpoint comes with the copy, and not before what is appended.
        long checkpoint = segment.over || segment.checkpoints.isEmpty() ? -1 : segment.checkpoints.lastKey();
        store.append(
                new SegmentId(segment.id),
                segment.epoch,
                entry.first(),
                entry.last(),
                crc,
                bytes,
                entry.first(),
                (status, end) -> {
                    if (status == BookieStatus.OK) {
                        trace.add("acknowledged " + segment.id + " " + end);
                        oracle.onAppended(segment, end, fenceWhenAsked);
                        if (!hasBeenFull) {
                            segment.acknowledgedCheckpoint = Math.max(segment.acknowledgedCheckpoint, checkpoint);
                        }
                    }
                });
    }

    private void repeatOrSkip() {
        StoreOracle.Segment segment = anySegment();
        if (segment == null || segment.submitted.isEmpty()) {
            return;
        }
        List<StoreOracle.Entry> all = new ArrayList<>(segment.submitted.values());
        StoreOracle.Entry entry = all.get(random.nextInt(all.size()));
        submit(segment, entry);
    }

    private void checkpoint() {
        StoreOracle.Segment segment = anySegment();
        if (segment == null || !segment.created || segment.sealAsked || segment.deleteAsked || segment.over) {
            return;
        }
        if (segment.epoch < oracle.fenceAsked.getOrDefault(segment.partition, 0)) {
            return;
        }
        long offset = segment.submittedEnd();
        byte[] state = new byte[random.nextInt(2000)];
        random.nextBytes(state);
        if (!segment.checkpoints.containsKey(offset)) {
            segment.checkpoints.put(offset, state);
            store.checkpoint(new SegmentId(segment.id), segment.epoch, offset, Unpooled.wrappedBuffer(state));
        }
    }

    private void fence() {
        StoreOracle.Segment segment = anySegment();
        if (segment == null || random.nextInt(3) > 0) {
            return;
        }
        int epoch = oracle.fenceOf(segment.partition) + random.nextInt(3);
        oracle.fenceAsked.merge(segment.partition, epoch, Math::max);
        trace.add("fence " + segment.partition + " at " + epoch);
        store.fence(List.of(new FenceRequest(partition(segment.partition), epoch, new SegmentId(segment.id), 0)))
                .thenAccept(replies -> {
                    FenceReply reply = replies.get(0);
                    requireKnown(reply.status(), segment);
                    oracle.onFenced(segment.partition, epoch, segment, reply.status(), reply.end());
                });
    }

    private void requireKnown(BookieStatus status, StoreOracle.Segment segment) {
        StoreOracle.require(
                mayBeUnknown || status != BookieStatus.UNKNOWN, "UNKNOWN without a reason: segment " + segment.id);
    }

    private void seal() {
        StoreOracle.Segment segment = anySegment();
        if (segment != null && segment.created && !segment.over && segment.submittedEnd() == segment.acknowledgedEnd) {
            segment.sealAsked = true;
            store.seal(new SegmentId(segment.id), Integer.MAX_VALUE, segment.acknowledgedEnd)
                    .thenAccept(status -> segment.sealed |= status == BookieStatus.OK);
        }
    }

    private void delete() {
        StoreOracle.Segment segment = anySegment();
        if (segment != null && segment.created && !imports.containsKey(segment.id)) {
            segment.deleteAsked = true;
            trace.add("delete " + segment.id);
            store.delete(new SegmentId(segment.id), 0).thenAccept(status -> {
                trace.add("deleted " + segment.id + " " + status);
                segment.deleted |= status == BookieStatus.OK;
            });
        }
    }

    private void read() {
        StoreOracle.Segment segment = anySegment();
        Replica replica = segment == null ? null : replica(segment.id);
        if (replica == null || segment.acknowledgedEnd == segment.start) {
            return;
        }
        List<Long> starts = new ArrayList<>(
                segment.submitted.headMap(segment.acknowledgedEnd).keySet());
        long from = starts.get(random.nextInt(starts.size()));
        ReadReply reply = reader.read(replica, from, random.nextInt(20_000));
        try {
            if (reply.status() == BookieStatus.OK) {
                oracle.onRead(segment, from, reply.entries());
            } else {
                StoreOracle.require(
                        mayBeUnknown || segment.deleteAsked, "read " + reply.status() + " of segment " + segment.id);
            }
        } finally {
            reply.entries().release();
        }
    }

    private Replica replica(long segment) {
        if (lives.isEmpty()) {
            return null;
        }
        Replica replica = lives.get(0).directory.shared.replicas.get(new SegmentId(segment));
        return replica != null && replica.isLive() ? replica : null;
    }

    private void housekeep() {
        housekeep(anyLife());
    }

    private static boolean housekeep(Life life) {
        try {
            return life.housekeeping.step();
        } catch (IOException failure) {
            life.directory.onTrouble("housekeeping", failure);
            return !(failure instanceof DiskFullException);
        }
    }

    private void settle() {
        settle(anyLife());
    }

    private static boolean settle(Life life) {
        try {
            return life.settler.step();
        } catch (IOException failure) {
            life.directory.onTrouble("settle", failure);
            return !(failure instanceof DiskFullException);
        }
    }

    /** A repair: one more step of a copy that has begun, or the beginning of one. */
    private void importSome() {
        if (!imports.isEmpty() && random.nextInt(4) > 0) {
            List<SimImport> all = new ArrayList<>(imports.values());
            goOn(all.get(random.nextInt(all.size())));
        } else if (random.nextInt(6) == 0) {
            beginImport();
        }
    }

    private void beginImport() {
        StoreOracle.Segment segment = random.nextBoolean() ? anySegment() : null;
        if (segment != null && !segment.created) {
            return;
        }
        if (segment == null) {
            int partition = random.nextInt(PARTITIONS);
            segment = new StoreOracle.Segment(nextSegment++, partition, 1, random.nextInt(1000));
        }
        if (segment.sealAsked || segment.deleteAsked || segment.over || imports.containsKey(segment.id)) {
            return;
        }
        segment.over = true;
        SimImport copy = SimImport.of(segment, partition(segment.partition), random);
        trace.add("import " + segment.id + " up to " + copy.end());
        imports.put(segment.id, copy);
    }

    private void goOn(SimImport copy) {
        StoreOracle.Segment segment = copy.segment();
        try {
            if (copy.isSubmitted() || !copy.step(store, random)) {
                return;
            }
            trace.add("imported " + segment.id);
            oracle.segments.put(segment.id, segment);
            copy.submit().thenAccept(status -> {
                trace.add("import of " + segment.id + " " + status);
                copy.close();
                imports.remove(segment.id);
                if (status == BookieStatus.OK) {
                    importsDone++;
                    segment.created = true;
                    segment.incarnation =
                            store.describe(new SegmentId(segment.id), 0).incarnation();
                    segment.sealed = true;
                    segment.sealAsked = true;
                    segment.acknowledgedEnd = copy.end();
                    segment.acknowledgedCheckpoint = copy.end();
                } else if (status == BookieStatus.UNKNOWN) {
                    // It may have taken the old replica's place all the same.
                    segment.incarnation = 0;
                }
            });
        } catch (IOException failure) {
            // The task is over, and will be tried again.
            trace.add("import of " + segment.id + " failed: " + failure.getMessage());
            copy.close();
        }
    }

    /** After a start: everything the store says, and everything it must say. */
    private void checkAll() {
        for (StoreOracle.Segment segment : List.copyOf(oracle.segments.values())) {
            FenceReply told = store.describe(new SegmentId(segment.id), segment.incarnation);
            if (told.status() == BookieStatus.OK) {
                StoreOracle.require(!segment.deleted, "a deleted segment is back: " + segment.id);
                segment.created = true;
                segment.incarnation = told.incarnation();
                oracle.onTold(segment, told.end());
                oracle.forgetUnacknowledged(segment);
                StoreOracle.require(!segment.sealed || told.sealed(), "the seal was forgotten: segment " + segment.id);
                segment.sealAsked = told.sealed();
                segment.deleteAsked = false;
                readWhole(segment);
                checkCheckpoints(segment);
            } else if (told.status() == BookieStatus.NO_SUCH_SEGMENT) {
                StoreOracle.require(
                        !segment.created || segment.deleteAsked, "I-1 a replica is gone: segment " + segment.id);
                oracle.segments.remove(segment.id);
            } else if (segment.deleteAsked) {
                // What it replaced may be left in a directory that could not be told.
                oracle.segments.remove(segment.id);
            } else {
                unknownAnswers++;
                requireKnown(told.status(), segment);
            }
        }
        for (var fence : oracle.fenced.entrySet()) {
            int stands = lives.get(0)
                    .directory
                    .shared
                    .fence(partition(fence.getKey()))
                    .epoch();
            StoreOracle.require(
                    mayBeUnknown || stands >= fence.getValue(),
                    "I-4 a fence was forgotten: partition " + fence.getKey());
            int asked = Math.max(fence.getValue(), oracle.fenceAsked.getOrDefault(fence.getKey(), 0));
            StoreOracle.require(stands <= asked, "a fence was invented: partition " + fence.getKey());
        }
    }

    private void readWhole(StoreOracle.Segment segment) {
        Replica replica = replica(segment.id);
        long next = segment.start;
        while (next < segment.acknowledgedEnd) {
            ReadReply reply = reader.read(replica, next, 10_000);
            try {
                StoreOracle.require(
                        reply.status() == BookieStatus.OK || mayBeUnknown,
                        "read " + reply.status() + " at " + next + " of segment " + segment.id);
                if (reply.status() != BookieStatus.OK) {
                    return;
                }
                next = oracle.onRead(segment, next, reply.entries());
            } finally {
                reply.entries().release();
            }
        }
    }

    private void checkCheckpoints(StoreOracle.Segment segment) {
        CheckpointReply reply = reader.readCheckpoint(replica(segment.id), Long.MAX_VALUE);
        try {
            if (reply.status() == BookieStatus.OK) {
                byte[] state = new byte[reply.state().readableBytes()];
                reply.state().readBytes(state);
                StoreOracle.require(
                        Arrays.equals(state, segment.checkpoints.get(reply.offset())),
                        "another checkpoint: segment " + segment.id);
            }
            StoreOracle.require(
                    mayBeUnknown || reply.offset() >= segment.acknowledgedCheckpoint,
                    "a checkpoint is lost: segment " + segment.id + ": " + reply.status());
            segment.checkpoints
                    .tailMap(Math.max(0, reply.offset()), reply.offset() < 0)
                    .clear();
        } finally {
            reply.state().release();
        }
    }
}
