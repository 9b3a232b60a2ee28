package io.varve.serving.core.partition;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.bookie.core.Fence;
import io.varve.bookie.core.SegmentReplica;
import io.varve.bookie.core.SegmentReplica.Verdict;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentChain;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.SegmentDescriptor.State;
import io.varve.serving.core.partition.PartitionLeader.Admission;
import io.varve.serving.core.partition.PartitionLeader.AllocationFailure;
import io.varve.serving.core.partition.PartitionLeader.Outcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;

/**
 * The least cluster in which a takeover can go wrong: R bookies with real {@link SegmentReplica}s and {@link Fence}s, real {@link PartitionLeader}s of rising epochs for one
 * partition, and a metadata service that is one compare-and-set. Entries have one offset each. What can happen next is a number ({@link #enabled}), and
 * {@link #step} makes it happen, so that a run is a row of numbers and can be had again.
 *
 * <p>Messages between an owner and a bookie keep their order, and each takes as long as the search likes; one that is never delivered is a lost one, or a bookie that is dead.
 * Fences travel beside appends, for they have a connection of their own. Bookies lose nothing here, and clocks stand still, so that nothing is tried twice: disks that lose, and retries, are
 * {@code ClusterSimulation}'s.
 *
 * <p><b>What is left out, and why nothing is lost by it.</b> With {@code reduced} some events happen at once instead of at every possible moment:
 * <ul>
 * <li><em>Answers that nobody else's events can change</em> (always): a segment allocated, the state below a seal, entries read from a fenced replica. That they come later is the same as that
 *     what follows from them is delivered later.
 * <li><em>A bookie's acknowledgement is the end that it holds when the owner hears of it</em> (always), and not one that was sent earlier: only this owner moves that end, and nothing
 *     that an owner does before it is deposed depends on what others do, so that hearing the lower end can be put before the delivery of the next entry.
 * <li><em>A refusal is heard when it is made</em> (always): it changes nothing at the bookie.
 * <li><em>An owner that doesn't serve yet hears at once what is durable, and how its roll came out.</em> All that comes of it is its request to roll, which waits as long as it likes, and that it serves: its
 *     high watermark is then the end of what it carried, however many more replicas were heard of.
 * <li><em>A fence that the takeover doesn't wait for any longer is never raised.</em> That can only allow the older owners more.
 * <li><em>The last owner finishes without a pause once its fences are raised.</em> Nobody is there to compete with it: its epoch is the highest, so that its appends and
 *     its roll are accepted whenever they arrive, and older owners' are not affected by them.
 * <li><em>What a deposed owner sent and would be refused</em> vanishes.
 * </ul>
 */
final class SmallCluster {

    /** What an event's number begins with; the owner and the bookie follow, in two bits and in three. */
    private enum Kind {
        FENCE,
        DELIVER,
        HEAR,
        DECIDE,
        LEARN,
        APPEND,
        ROLL,
        TAKE
    }

    private static final PartitionId PARTITION = new PartitionId(new TopicId(1, 1), 0);
    private static final Kind[] KINDS = Kind.values();
    private static final int SEGMENTS_BY_OWNER = 10;

    /**
     * How much there is of everything.
     *
     * @param appends entries that clients append, to whichever owner takes them
     * @param takeovers changes of owner after the first; up to three
     * @param rolls live rolls
     * @param reduced whether what makes no difference is left out
     */
    record Scope(int replicas, int acks, int appends, int takeovers, int rolls, SegmentRules rules, boolean reduced) {}

    private final Scope scope;
    private final Bookie[] bookies;
    private final List<Owner> owners = new ArrayList<>();
    private final TreeMap<Long, SegmentDescriptor> pending = new TreeMap<>();
    private final TreeMap<Long, String> acknowledged = new TreeMap<>();
    private SegmentChain chain = SegmentChain.EMPTY;
    private int epoch = -1;
    private int appends;
    private int rolls;

    SmallCluster(Scope scope) {
        this.scope = scope;
        bookies = new Bookie[scope.replicas()];
        Arrays.setAll(bookies, b -> new Bookie());
        take();
        // The first owner's own roll is not what is searched.
        Owner first = owners.get(0);
        settle(first);
        decide(first);
        first.learn();
        settle();
    }

    private static final class Bookie {
        private final Fence fence = new Fence(PARTITION, 0);
        private final TreeMap<Long, SegmentReplica> replicas = new TreeMap<>();
        private final TreeMap<Long, List<String>> entries = new TreeMap<>();

        long end(long segment) {
            SegmentReplica replica = replicas.get(segment);
            return replica == null ? -1 : replica.durableEnd();
        }

        String entryAt(long segment, long offset) {
            return entries.get(segment)
                    .get((int) (offset - replicas.get(segment).startOffset()));
        }
    }

    // ---- what can happen next
    // ---------------------------------------------------------------------------------------------------

    /** The numbers of the events that can be next. */
    byte[] enabled() {
        byte[] codes = new byte[64];
        int count = 0;
        for (int o = 0; o < owners.size(); o++) {
            Owner owner = owners.get(o);
            for (int b = 0; b < bookies.length; b++) {
                if (owner.fences[b] != 0) {
                    codes[count++] = code(Kind.FENCE, o, b);
                }
                if (owner.canDeliver(b)) {
                    codes[count++] = code(Kind.DELIVER, o, b);
                }
                if (owner.news(b) != null) {
                    codes[count++] = code(Kind.HEAR, o, b);
                }
            }
            if (owner.roll != null) {
                codes[count++] = code(owner.outcome == null ? Kind.DECIDE : Kind.LEARN, o, 0);
            }
            if (appends < scope.appends() && owner.leader.admit(1) == Admission.TAKEN) {
                codes[count++] = code(Kind.APPEND, o, 0);
            }
            if (rolls < scope.rolls() && owner.leader.isServing()) {
                codes[count++] = code(Kind.ROLL, o, 0);
            }
        }
        if (mayTake()) {
            codes[count++] = code(Kind.TAKE, 0, 0);
        }
        return Arrays.copyOf(codes, count);
    }

    private static byte code(Kind kind, int owner, int bookie) {
        return (byte) (kind.ordinal() << 5 | owner << 3 | bookie);
    }

    /** Makes the event of that number happen. */
    void step(byte code) {
        Owner owner = owners.get(code >> 3 & 3);
        int bookie = code & 7;
        switch (KINDS[code >> 5 & 7]) {
            case FENCE -> owner.raiseFence(bookie);
            case DELIVER -> owner.deliver(bookie);
            case HEAR -> owner.hear(bookie);
            case DECIDE -> decide(owner);
            case LEARN -> owner.learn();
            case APPEND -> append(owner);
            case ROLL -> {
                rolls++;
                owner.leader.roll();
            }
            case TAKE -> take();
        }
        settle();
    }

    /** An event's number, for people. */
    static String name(byte code) {
        return KINDS[code >> 5 & 7] + " " + (code >> 3 & 3) + "/" + (code & 7);
    }

    private boolean mayTake() {
        return owners.size() <= scope.takeovers();
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
                epoch, LeaderOptions.of(bookies.length, 1 << 20, Long.MAX_VALUE), scope.rules(), owner, 0);
        owner.leader.start(state(), owner.newSegment(0));
    }

    private PartitionState state() {
        return new PartitionState(PARTITION, epoch, epoch, 0, chain);
    }

    // ---- what happens at once
    // ---------------------------------------------------------------------------------------------------

    private void settle() {
        for (Owner owner : owners) {
            settle(owner);
        }
    }

    private void settle(Owner owner) {
        owner.answerLocally();
        if (!scope.reduced()) {
            return;
        }
        if (owner.leader.isDeposed()) {
            owner.forgetWhatIsRefused();
            return;
        }
        boolean last = !mayTake() && owner.leader.epoch() == epoch;
        boolean fenced = !owner.leader.phaseName().equals("Fencing");
        if (fenced) {
            Arrays.fill(owner.fences, 0);
        }
        boolean moved = true;
        while (moved) {
            moved = !owner.leader.isServing() && owner.hearAll();
            if (last && fenced) {
                moved |= owner.deliverOne();
                moved |= owner.hearAll();
                if (owner.roll != null && owner.outcome == null) {
                    decide(owner);
                    moved = true;
                }
            }
            if (owner.outcome != null && (last || !owner.leader.isServing())) {
                owner.learn();
                moved = true;
            }
            owner.answerLocally();
        }
    }

    // ---- the metadata service
    // ---------------------------------------------------------------------------------------------------

    private void decide(Owner owner) {
        owner.outcome = decided(owner.leader.epoch(), owner.roll);
    }

    private Outcome decided(int asking, RollWanted roll) {
        if (asking != epoch) {
            return Outcome.SUPERSEDED;
        }
        SegmentDescriptor open = chain.open().orElse(null);
        if ((open == null) != (roll.sealed == null)
                || open != null && !open.id().equals(roll.sealed.segment())) {
            return Outcome.MOVED;
        }
        long start = 0;
        if (open != null) {
            start = roll.sealed.endOffset();
            chain = chain.replace(as(open, State.SEALED, open.startOffset(), start));
            chain = start == open.startOffset() ? chain.withoutEmptyLast() : chain;
        }
        chain = chain.append(as(pending.get(roll.opened.value()), State.OPEN, start, SegmentDescriptor.UNSEALED));
        pending.clear();
        return Outcome.COMMITTED;
    }

    private static SegmentDescriptor as(SegmentDescriptor segment, State state, long start, long end) {
        return descriptor(segment.id(), segment.epoch(), state, start, end, segment.acks(), segment.replicas());
    }

    private static SegmentDescriptor descriptor(
            SegmentId id, int epoch, State state, long start, long end, int acks, List<Replica> replicas) {
        return new SegmentDescriptor(
                id, PARTITION, epoch, state, start, end, acks, replicas, List.of(), -1, -1, 0, -1, Optional.empty());
    }

    /** A roll that was asked for. */
    private record RollWanted(int ticket, LeaderEffects.SealFacts sealed, SegmentId opened) {}

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
        acknowledged.forEach((offset, entry) -> {
            require(
                    offset < highWatermark,
                    "I-1, I-15 acknowledged " + entry + " at " + offset + " is beyond " + highWatermark);
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
        long id = segment.id().value();
        int held = 0;
        for (Bookie bookie : bookies) {
            held += bookie.end(id) > offset && bookie.entryAt(id, offset).equals(entry) ? 1 : 0;
        }
        require(held >= scope.acks(), "I-1 " + entry + " at " + offset + " is held by " + held);
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    // ---- the whole state as a number
    // --------------------------------------------------------------------------------------------

    long fingerprint() {
        Fingerprint print = new Fingerprint(bookies.length);
        print.add(appends * 10L + rolls);
        for (SegmentDescriptor segment : chain.segments()) {
            print.add(segment.id().value());
            print.add(segment.startOffset());
            print.add(segment.endOffset());
        }
        print.add(pending.keySet().toString());
        print.add(acknowledged.toString());
        for (int b = 0; b < bookies.length; b++) {
            print.add(b, bookies[b].fence.epoch());
            for (SegmentReplica replica : bookies[b].replicas.values()) {
                print.add(b, replica.id().value());
                print.add(b, replica.highWatermark());
                print.add(b, bookies[b].entries.get(replica.id().value()).toString());
            }
        }
        owners.forEach(owner -> owner.fingerprint(print));
        return print.finish();
    }

    // ---- an owner
    // ---------------------------------------------------------------------------------------------------------------

    /** What a bookie holds of one of an owner's segments, and what the owner has heard of that. */
    private static final class Stream {
        private final SegmentWriter writer;
        private long end;
        private long heard;

        private Stream(SegmentWriter writer) {
            this.writer = writer;
            this.end = writer.startOffset();
            this.heard = end;
        }
    }

    /** An entry on its way. */
    private record Append(Stream to, long offset, String payload, long highWatermark) {
        @Override
        public String toString() {
            return to.writer.segment() + "@" + offset + payload + "<" + highWatermark;
        }
    }

    private final class Owner implements LeaderEffects<String> {

        /** Tickets of fences on their way, 0 for none. */
        private final int[] fences = new int[bookies.length];

        private SegmentDescriptor fenced;
        private final List<ArrayDeque<Append>> toBookie = new ArrayList<>();
        private final List<TreeMap<Integer, Stream>> streams = new ArrayList<>();
        private final ArrayDeque<Runnable> local = new ArrayDeque<>();
        /** What this owner knows to stand at each offset. */
        private final List<String> log = new ArrayList<>();

        private PartitionLeader<String> leader;
        private int allocated;
        private RollWanted roll;
        private Outcome outcome;
        private long acknowledgedTo;

        private Owner() {
            for (int b = 0; b < bookies.length; b++) {
                toBookie.add(new ArrayDeque<>());
                streams.add(new TreeMap<>());
            }
        }

        private void fingerprint(Fingerprint print) {
            boolean deposed = leader.isDeposed();
            print.add(deposed ? 1 : 0);
            for (int b = 0; b < bookies.length; b++) {
                print.add(b, toBookie.get(b).toString());
                print.add(b, fences[b] == 0 ? 0 : 1);
            }
            print.add(roll == null ? "" : roll.sealed + "," + roll.opened);
            print.add(outcome == null ? -1 : outcome.ordinal());
            if (deposed) {
                return;
            }
            print.add(leader);
            print.add(log.toString());
            print.add(acknowledgedTo);
            for (int b = 0; b < bookies.length; b++) {
                for (Stream stream : streams.get(b).values()) {
                    print.add(b, stream.end * 100 + stream.heard);
                }
            }
        }

        // -- what can happen to it

        private void raiseFence(int b) {
            int ticket = fences[b];
            fences[b] = 0;
            if (!bookies[b].fence.raise(leader.epoch())) {
                leader.onHigherFence();
                return;
            }
            SegmentReplica replica = bookies[b].replicas.get(fenced.id().value());
            if (replica == null) {
                leader.onFencedAbsent(ticket, b);
            } else {
                leader.onFenced(ticket, b, replica.durableEnd(), replica.highWatermark());
            }
        }

        /** A refusal comes after the acknowledgements before it. */
        private boolean canDeliver(int b) {
            return !toBookie.get(b).isEmpty()
                    && (!bookies[b].fence.refuses(leader.epoch()) || leader.isDeposed() || news(b) == null);
        }

        private void deliver(int b) {
            Append append = toBookie.get(b).pollFirst();
            Stream stream = append.to;
            long segment = stream.writer.segment().value();
            Bookie bookie = bookies[b];
            if (bookie.fence.refuses(leader.epoch())) {
                toBookie.get(b).clear();
                leader.onHigherFence();
                return;
            }
            SegmentReplica replica = bookie.replicas.computeIfAbsent(
                    segment,
                    id -> new SegmentReplica(
                            new SegmentId(id), bookie.fence, leader.epoch(), stream.writer.startOffset()));
            Verdict verdict = replica.judge(leader.epoch(), append.offset, append.offset);
            require(verdict == Verdict.ACCEPT, "I-3 in order, but " + verdict);
            replica.accept(append.offset, append.offset, append.highWatermark);
            replica.onDurable(append.offset + 1);
            bookie.entries.computeIfAbsent(segment, id -> new ArrayList<>()).add(append.payload);
            stream.end = append.offset + 1;
        }

        /** The oldest stream to that bookie with an end that this owner has not heard of, or null. */
        private Stream news(int b) {
            if (leader.isDeposed()) {
                return null;
            }
            for (Stream stream : streams.get(b).values()) {
                if (stream.heard < stream.end) {
                    return stream;
                }
            }
            return null;
        }

        private void hear(int b) {
            Stream stream = news(b);
            stream.heard = stream.end;
            leader.onDurable(stream.writer.number(), b, stream.end);
        }

        private void learn() {
            RollWanted asked = roll;
            Outcome known = outcome;
            roll = null;
            outcome = null;
            leader.onRolled(asked.ticket, known);
        }

        // -- what happens at once

        private void answerLocally() {
            while (!local.isEmpty()) {
                local.pollFirst().run();
            }
        }

        private boolean hearAll() {
            boolean any = false;
            for (int b = 0; b < bookies.length; b++) {
                while (news(b) != null) {
                    hear(b);
                    any = true;
                }
            }
            return any;
        }

        private boolean deliverOne() {
            for (int b = 0; b < bookies.length; b++) {
                if (canDeliver(b)) {
                    deliver(b);
                    return true;
                }
            }
            return false;
        }

        private void forgetWhatIsRefused() {
            Arrays.fill(fences, 0);
            roll = null;
            outcome = null;
            for (int b = 0; b < bookies.length; b++) {
                if (bookies[b].fence.refuses(leader.epoch())) {
                    toBookie.get(b).clear();
                }
            }
        }

        // -- what it wants

        @Override
        public void fence(int ticket, SegmentDescriptor open, int replica) {
            fenced = open;
            fences[open.replicas().get(replica).bookie().value()] = ticket;
        }

        @Override
        public void loadState(int ticket, long atOffset, long[] holders) {
            local.add(() -> {
                log.clear();
                for (long offset = 0; offset < atOffset; offset++) {
                    log.add(entryAt(offset));
                }
                leader.onStateLoaded(ticket, 0, 0);
            });
        }

        private String entryAt(long offset) {
            long id = chain.covering(offset).orElseThrow().id().value();
            for (Bookie bookie : bookies) {
                if (bookie.end(id) > offset) {
                    return bookie.entryAt(id, offset);
                }
            }
            throw new AssertionError("I-1 nobody holds " + offset);
        }

        @Override
        public void readCarry(int ticket, SegmentDescriptor from, int replica, long fromOffset, long endOffset) {
            Bookie bookie = bookies[from.replicas().get(replica).bookie().value()];
            local.add(() -> {
                for (long offset = fromOffset; offset < endOffset && leader.isCarrying(ticket); offset++) {
                    String entry = bookie.entryAt(from.id().value(), offset);
                    log.add(entry);
                    leader.onCarried(ticket, offset, offset, 0, 1, 0, entry);
                }
            });
        }

        @Override
        public void allocate(int ticket, long startOffset, SortedSet<BookieId> avoid) {
            if (leader.epoch() != epoch) {
                local.add(() -> leader.onAllocateFailed(ticket, AllocationFailure.SUPERSEDED));
                return;
            }
            SegmentDescriptor segment = newSegment(startOffset);
            local.add(() -> leader.onAllocated(ticket, segment));
        }

        private SegmentDescriptor newSegment(long startOffset) {
            List<Replica> replicas = new ArrayList<>();
            for (int b = 0; b < bookies.length; b++) {
                replicas.add(new Replica(new BookieId(b), 1));
            }
            SegmentDescriptor segment = descriptor(
                    new SegmentId(1 + (long) epoch * SEGMENTS_BY_OWNER + allocated++),
                    epoch,
                    State.PENDING,
                    startOffset,
                    SegmentDescriptor.UNSEALED,
                    scope.acks(),
                    replicas);
            pending.put(segment.id().value(), segment);
            return segment;
        }

        @Override
        public void openStreams(SegmentWriter writer) {
            streams.forEach(ofBookie -> ofBookie.put(writer.number(), new Stream(writer)));
        }

        @Override
        public void send(int number, int replica, long first, long last, int crc, String payload, long highWatermark) {
            if (log.size() == first) {
                log.add(payload);
            }
            // Segments have their replicas in the order of the bookies.
            toBookie.get(replica).add(new Append(streams.get(replica).get(number), first, payload, highWatermark));
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
        public void closeStream(int writer, int replica, long sealOffset) {
            streams.get(replica).remove(writer);
        }

        @Override
        public long pendingBytes(int writer, int replica) {
            return 0;
        }

        @Override
        public void roll(int ticket, SealFacts sealed, SegmentId opened) {
            roll = new RollWanted(ticket, sealed, opened);
        }

        @Override
        public void release(int ticket, SealFacts sealed) {
            throw new AssertionError("nothing is given back here");
        }

        @Override
        public void readChain(int ticket) {
            PartitionState now = state();
            local.add(() -> leader.onChain(ticket, now, leader.epoch() == epoch));
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
            }
        }

        @Override
        public void releasePayload(String payload) {}

        @Override
        public void onDeposed(Deposition why) {}
    }
}
