package io.varve.serving.core.partition;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentChain;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.SegmentDescriptor.State;
import io.varve.serving.core.partition.PartitionLeader.AllocationFailure;
import io.varve.serving.core.partition.PartitionLeader.Outcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * The least cluster in which a takeover can go wrong: R bookies, real leaders of rising epochs for one partition, a metadata service that decides at once.
 * Each message to and from a bookie, and each answer about a roll, waits until the search delivers it. Entries have one offset each.
 */
final class SmallCluster {

    private static final PartitionId PARTITION = new PartitionId(new TopicId(1, 1), 0);

    private final int acks;
    private final int appendsMax;
    private final int takeoversMax;
    private final int rollsMax;
    private final SegmentRules rules;
    private final List<Bookie> bookies = new ArrayList<>();
    private final List<Owner> owners = new ArrayList<>();
    private final TreeMap<Long, SegmentDescriptor> pending = new TreeMap<>();
    private final TreeMap<Long, String> acknowledged = new TreeMap<>();
    private SegmentChain chain = SegmentChain.EMPTY;
    private int epoch = -1;
    private long segments;
    private int appends;
    private int rolls;
    private long shown;

    SmallCluster(int replicas, int acks, int appendsMax, int takeoversMax, int rollsMax, SegmentRules rules) {
        this.acks = acks;
        this.appendsMax = appendsMax;
        this.takeoversMax = takeoversMax;
        this.rollsMax = rollsMax;
        this.rules = rules;
        for (int b = 0; b < replicas; b++) {
            bookies.add(new Bookie());
        }
        take();
        // The first owner's own roll is not what is searched.
        settle();
        while (!owners.get(0).leader.isServing()) {
            owners.get(0).answers.pollFirst().run();
        }
    }

    /** A message or an answer that waits, with a name for the fingerprint. */
    private record Waiting(String name, Runnable action) implements Runnable {
        @Override
        public void run() {
            action.run();
        }
    }

    private static final class Bookie {
        int fence = -1;
        final TreeMap<Long, List<String>> entries = new TreeMap<>();
        final TreeMap<Long, Long> starts = new TreeMap<>();

        long end(long segment) {
            return starts.containsKey(segment)
                    ? starts.get(segment) + entries.get(segment).size()
                    : -1;
        }
    }

    // ---- what can happen next
    // ---------------------------------------------------------------------------------------------------

    /** The next possible events, always in the same order. */
    List<Runnable> enabled() {
        settle();
        List<Runnable> enabled = new ArrayList<>();
        for (Owner owner : owners) {
            for (int b = 0; b < bookies.size(); b++) {
                if (!owner.toBookie.get(b).isEmpty()) {
                    enabled.add(owner.toBookie.get(b)::pollFirst);
                    int bookie = b;
                    enabled.set(
                            enabled.size() - 1,
                            () -> owner.toBookie.get(bookie).pollFirst().run());
                }
                if (!owner.fromBookie.get(b).isEmpty()) {
                    int bookie = b;
                    enabled.add(() -> owner.fromBookie.get(bookie).pollFirst().run());
                }
            }
            if (!owner.answers.isEmpty()) {
                enabled.add(() -> owner.answers.pollFirst().run());
            }
        }
        Owner newest = owners.get(owners.size() - 1);
        Owner oldest = owners.get(0);
        if (appends < appendsMax && oldest.leader.admit(1) == PartitionLeader.Admission.TAKEN) {
            enabled.add(() -> append(oldest));
        }
        if (owners.size() <= takeoversMax) {
            enabled.add(this::take);
        }
        if (rolls < rollsMax && oldest.leader.isServing()) {
            enabled.add(() -> {
                rolls++;
                oldest.leader.roll();
            });
        }
        if (newest != oldest && appends < appendsMax && newest.leader.admit(1) == PartitionLeader.Admission.TAKEN) {
            enabled.add(() -> append(newest));
        }
        return enabled;
    }

    /**
     * Answers that nobody else's events can change or be changed by: a segment allocated, the state below a seal. Nothing is lost by giving them at once.
     */
    private void settle() {
        for (Owner owner : owners) {
            while (!owner.local.isEmpty()) {
                owner.local.pollFirst().run();
            }
        }
    }

    private void append(Owner owner) {
        appends++;
        long at = owner.leader.endOffset();
        owner.leader.append(at, at, 0, 1, 0, "e" + owner.leader.epoch() + "#" + appends);
    }

    private void take() {
        epoch++;
        Owner owner = new Owner();
        owners.add(owner);
        owner.leader = new PartitionLeader<>(
                epoch, LeaderOptions.of(bookies.size(), 1 << 20, Long.MAX_VALUE), rules, owner, 0);
        owner.leader.start(state());
    }

    private PartitionState state() {
        return new PartitionState(PARTITION, epoch, epoch, 0, chain);
    }

    // ---- what must hold
    // ---------------------------------------------------------------------------------------------------------

    private void onAcknowledged(Owner owner, long from, long to) {
        for (long offset = from; offset < to; offset++) {
            String entry = owner.log.get((int) offset);
            String before = acknowledged.putIfAbsent(offset, entry);
            require(before == null || before.equals(entry), "I-2 at " + offset + " " + before + " and " + entry);
            requireHeld(offset, entry);
        }
    }

    private void onServing(Owner owner, long highWatermark) {
        require(highWatermark >= shown, "I-15 the high watermark went back from " + shown + " to " + highWatermark);
        acknowledged.forEach((offset, entry) -> {
            require(
                    offset < highWatermark,
                    "I-1 acknowledged " + entry + " at " + offset + " is beyond " + highWatermark);
            require(
                    owner.log.get((int) (long) offset).equals(entry),
                    "I-2 the new owner has another entry at " + offset);
        });
        for (long offset = 0; offset < highWatermark; offset++) {
            requireHeld(offset, owner.log.get((int) offset));
        }
    }

    private void requireHeld(long offset, String entry) {
        SegmentDescriptor segment = chain.covering(offset).orElse(null);
        require(segment != null, "I-6 no committed segment covers " + offset);
        int held = 0;
        for (Bookie bookie : bookies) {
            long id = segment.id().value();
            if (bookie.end(id) > offset) {
                held += bookie.entries
                                .get(id)
                                .get((int) (offset - bookie.starts.get(id)))
                                .equals(entry)
                        ? 1
                        : 0;
            }
        }
        require(held >= acks, "I-1 " + entry + " at " + offset + " is held by " + held);
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    /** The whole state as text. */
    String fingerprint() {
        StringBuilder text = new StringBuilder();
        for (Bookie bookie : bookies) {
            text.append(bookie.fence)
                    .append(bookie.entries)
                    .append(bookie.starts)
                    .append('|');
        }
        for (Owner owner : owners) {
            text.append(Fingerprint.of(owner.leader, owner)).append(owner.log);
            owner.toBookie.forEach(
                    queue -> queue.forEach(w -> text.append(w.name).append(';')));
            text.append('/');
            owner.fromBookie.forEach(
                    queue -> queue.forEach(w -> text.append(w.name).append(';')));
            text.append('/');
            owner.answers.forEach(w -> text.append(w.name).append(';'));
        }
        chain.segments().forEach(segment -> Fingerprint.segment(text, segment));
        return text.append(pending.keySet())
                .append(acknowledged)
                .append(appends)
                .append(rolls)
                .append(shown)
                .toString();
    }

    // ---- an owner
    // ---------------------------------------------------------------------------------------------------------------

    private final class Owner implements LeaderEffects<String> {

        private final List<ArrayDeque<Waiting>> toBookie = new ArrayList<>();
        private final List<ArrayDeque<Waiting>> fromBookie = new ArrayList<>();
        private final ArrayDeque<Waiting> answers = new ArrayDeque<>();
        private final ArrayDeque<Waiting> local = new ArrayDeque<>();
        private final TreeMap<Integer, SegmentWriter> writers = new TreeMap<>();
        /** What this owner knows to stand at each offset. */
        private final List<String> log = new ArrayList<>();

        private PartitionLeader<String> leader;
        private long acknowledgedTo;

        private Owner() {
            for (int b = 0; b < bookies.size(); b++) {
                toBookie.add(new ArrayDeque<>());
                fromBookie.add(new ArrayDeque<>());
            }
        }

        private void call(int bookie, String name, Supplier<Waiting> work) {
            toBookie.get(bookie)
                    .add(new Waiting(name, () -> fromBookie.get(bookie).add(work.get())));
        }

        /**
         * A call whose answer comes back in the same event: for fences and reads of what is fenced, whose answers can't change while they are under
         * way, a late answer is as a late question.
         */
        private void ask(int bookie, String name, Supplier<Waiting> work) {
            toBookie.get(bookie).add(new Waiting(name, () -> work.get().run()));
        }

        @Override
        public void fence(int ticket, SegmentDescriptor open, int replica) {
            int b = open.replicas().get(replica).bookie().value();
            int asked = leader.epoch();
            ask(b, "fence" + asked, () -> {
                Bookie bookie = bookies.get(b);
                if (bookie.fence > asked) {
                    return new Waiting("higher", leader::onHigherFence);
                }
                bookie.fence = asked;
                long end = bookie.end(open.id().value());
                return end < 0
                        ? new Waiting("absent", () -> leader.onFencedAbsent(ticket, replica))
                        : new Waiting("held" + end, () -> leader.onFenced(ticket, replica, end, -1));
            });
        }

        @Override
        public void loadState(int ticket, long atOffset, long[] holders) {
            local.add(new Waiting("state" + atOffset, () -> {
                log.clear();
                for (long offset = 0; offset < atOffset; offset++) {
                    log.add(entryAt(offset));
                }
                leader.onStateLoaded(ticket, 0, 0);
            }));
        }

        private String entryAt(long offset) {
            long id = chain.covering(offset).orElseThrow().id().value();
            for (Bookie bookie : bookies) {
                if (bookie.end(id) > offset) {
                    return bookie.entries.get(id).get((int) (offset - bookie.starts.get(id)));
                }
            }
            throw new AssertionError("I-1 nobody holds " + offset);
        }

        @Override
        public void readCarry(int ticket, SegmentDescriptor from, int replica, long fromOffset, long endOffset) {
            int b = from.replicas().get(replica).bookie().value();
            ask(b, "read" + fromOffset, () -> {
                List<String> read = new ArrayList<>();
                long start = bookies.get(b).starts.get(from.id().value());
                for (long offset = fromOffset; offset < endOffset; offset++) {
                    read.add(bookies.get(b).entries.get(from.id().value()).get((int) (offset - start)));
                }
                return new Waiting("read" + read, () -> {
                    for (int i = 0; i < read.size() && leader.isCarrying(ticket); i++) {
                        log.add(read.get(i));
                        leader.onCarried(ticket, fromOffset + i, fromOffset + i, 0, 1, 0, read.get(i));
                    }
                });
            });
        }

        @Override
        public void allocate(int ticket, long startOffset, SortedSet<BookieId> avoid) {
            if (leader.epoch() != epoch) {
                answers.add(new Waiting("stale", () -> leader.onAllocateFailed(ticket, AllocationFailure.SUPERSEDED)));
                return;
            }
            List<Replica> replicas = new ArrayList<>();
            for (int b = 0; b < bookies.size(); b++) {
                replicas.add(new Replica(new BookieId(b), 1));
            }
            SegmentDescriptor segment = descriptor(new SegmentId(++segments), State.PENDING, startOffset, -1, replicas);
            pending.put(segment.id().value(), segment);
            local.add(new Waiting("allocated" + segment.id(), () -> leader.onAllocated(ticket, segment)));
        }

        private SegmentDescriptor descriptor(SegmentId id, State state, long start, long end, List<Replica> replicas) {
            return new SegmentDescriptor(
                    id,
                    PARTITION,
                    leader.epoch(),
                    state,
                    start,
                    end,
                    acks,
                    replicas,
                    List.of(),
                    -1,
                    -1,
                    0,
                    -1,
                    Optional.empty());
        }

        @Override
        public void openStreams(SegmentWriter writer) {
            writers.put(writer.number(), writer);
        }

        @Override
        public void send(int number, int replica, long first, long last, int crc, String payload, long highWatermark) {
            SegmentWriter writer = writers.get(number);
            int b = writer.replicas().get(replica).bookie().value();
            long segment = writer.segment().value();
            if (log.size() == first) {
                log.add(payload);
            }
            call(b, "append" + segment + "@" + first + payload, () -> {
                Bookie bookie = bookies.get(b);
                if (bookie.fence > leader.epoch()) {
                    return new Waiting("fenced", leader::onHigherFence);
                }
                bookie.starts.putIfAbsent(segment, writer.startOffset());
                bookie.entries.putIfAbsent(segment, new ArrayList<>());
                require(bookie.end(segment) == first, "I-3 in order");
                bookie.entries.get(segment).add(payload);
                long end = bookie.end(segment);
                return new Waiting("durable" + number + "@" + end, () -> leader.onDurable(number, replica, end));
            });
        }

        @Override
        public int checkpoint(SegmentWriter writer, long offset) {
            return 1;
        }

        @Override
        public void onRolling(long startOffset) {}

        @Override
        public void recount(long firstOffset, int sizeBytes, long maxTimestampMs) {}

        @Override
        public void closeStream(int writer, int replica, long sealOffset) {}

        @Override
        public long pendingBytes(int writer, int replica) {
            return 0;
        }

        @Override
        public void roll(int ticket, SealFacts sealed, SegmentId opened) {
            // The request is under way first, so that an old owner's can arrive after a new one's.
            answers.add(new Waiting("roll" + sealed + opened, () -> {
                Outcome outcome = decide(sealed, opened);
                answers.add(new Waiting("rolled" + outcome, () -> leader.onRolled(ticket, outcome)));
            }));
        }

        private Outcome decide(SealFacts sealed, SegmentId opened) {
            if (leader.epoch() != epoch) {
                return Outcome.SUPERSEDED;
            }
            SegmentDescriptor open = chain.open().orElse(null);
            if ((open == null) != (sealed == null) || open != null && !open.id().equals(sealed.segment())) {
                return Outcome.MOVED;
            }
            long start = 0;
            if (open != null) {
                start = sealed.endOffset();
                chain = chain.replace(descriptor(open.id(), State.SEALED, open.startOffset(), start, open.replicas()));
                chain = start == open.startOffset() ? chain.withoutEmptyLast() : chain;
            }
            SegmentDescriptor next = pending.remove(opened.value());
            chain = chain.append(descriptor(next.id(), State.OPEN, start, -1, next.replicas()));
            pending.clear();
            return Outcome.COMMITTED;
        }

        @Override
        public void release(int ticket, SealFacts sealed) {
            throw new AssertionError("nothing is given back here");
        }

        @Override
        public void readChain(int ticket) {
            PartitionState now = state();
            local.add(new Waiting("chain", () -> leader.onChain(ticket, now, leader.epoch() == epoch)));
        }

        @Override
        public void confirmReplica(SegmentId segment, BookieId bookie) {}

        @Override
        public void onServing(long highWatermark) {
            SmallCluster.this.onServing(this, highWatermark);
            onHighWatermark(highWatermark);
        }

        @Override
        public void onHighWatermark(long highWatermark) {
            if (highWatermark > acknowledgedTo) {
                onAcknowledged(this, acknowledgedTo, highWatermark);
                acknowledgedTo = highWatermark;
                if (leader.epoch() == owners.get(owners.size() - 1).leader.epoch()) {
                    shown = Math.max(shown, highWatermark);
                }
            }
        }

        @Override
        public void releasePayload(String payload) {}

        @Override
        public void onDeposed(Deposition why) {}
    }
}
