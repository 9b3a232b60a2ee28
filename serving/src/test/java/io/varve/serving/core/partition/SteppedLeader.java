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
import io.varve.serving.core.partition.PartitionLeader.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;

/**
 * A leader that is stepped by hand: what it wants is written down, and the test gives the answers. Segments have three replicas, on the bookies 1, 2 and 3, and A = 2,
 * unless a test says otherwise.
 */
final class SteppedLeader implements LeaderEffects<String> {

    static final int EPOCH = 7;
    static final long MS = 1_000_000L;
    static final LeaderOptions OPTIONS = new LeaderOptions(
            3, 1_000, 60_000 * MS, 200, 10_000, 5_000, 2_000, 500 * MS, 50 * MS, 1_000 * MS, 2_000 * MS, 300 * MS);
    private static final PartitionId PARTITION = new PartitionId(new TopicId(1, 1), 0);

    /** What the leader wanted, in order, in words; {@link #take} empties it. */
    private final List<String> wanted = new ArrayList<>();

    private final TreeMap<String, Integer> tickets = new TreeMap<>();
    private final TreeMap<Integer, SegmentWriter> writers = new TreeMap<>();
    private final TreeMap<Integer, Long> pending = new TreeMap<>();
    private final PartitionLeader<String> leader;
    private SealFacts sealed;
    private SortedSet<BookieId> avoided;
    private int payloadsHeld;
    private int usable = 3;
    private long nowNs;

    SteppedLeader() {
        this(OPTIONS);
    }

    SteppedLeader(LeaderOptions options) {
        leader = new PartitionLeader<>(EPOCH, options, SegmentRules.STANDARD, this, 0);
    }

    PartitionLeader<String> leader() {
        return leader;
    }

    // ---- what the metadata service says
    // -----------------------------------------------------------------------------------------

    static SegmentDescriptor segment(long id, int epoch, State state, long start, int... bookies) {
        List<Replica> replicas = new ArrayList<>();
        for (int bookie : bookies.length == 0 ? new int[] {1, 2, 3} : bookies) {
            replicas.add(new Replica(new BookieId(bookie), 1));
        }
        return new SegmentDescriptor(
                new SegmentId(id),
                PARTITION,
                epoch,
                state,
                start,
                SegmentDescriptor.UNSEALED,
                2,
                replicas,
                List.of(),
                -1,
                -1,
                0,
                -1,
                Optional.empty());
    }

    static PartitionState state(SegmentDescriptor... chain) {
        SegmentChain segments = SegmentChain.EMPTY;
        for (SegmentDescriptor segment : chain) {
            segments = segments.append(segment);
        }
        return new PartitionState(PARTITION, 1, EPOCH, 0, segments);
    }

    // ---- steps
    // ------------------------------------------------------------------------------------------------------------------

    /** Takes over a chain without an open segment and serves from offset 0 on in segment 1. */
    SteppedLeader serving() {
        leader.start(state(), null);
        leader.onStateLoaded(ticket("load"), 0, -1);
        allocated(1);
        rolled(Outcome.COMMITTED);
        take();
        return this;
    }

    void allocated(long id, int... bookies) {
        leader.onAllocated(ticket("allocate"), segment(id, EPOCH, State.PENDING, leader.endOffset(), bookies));
    }

    void rolled(Outcome outcome) {
        leader.onRolled(ticket("roll"), outcome);
    }

    void append(int bytes) {
        payloadsHeld++;
        long at = leader.endOffset();
        leader.append(at, at, 0, bytes, 1_000 + at, "p" + at);
    }

    /** Those replicas of the writer's segment hold everything below {@code end}. */
    void durable(int writer, long end, int... replicas) {
        for (int replica : replicas) {
            leader.onDurable(writer, replica, end);
        }
    }

    void after(long ms) {
        nowNs += ms * MS;
        leader.tick(nowNs, usable);
    }

    void usableBookies(int count) {
        usable = count;
    }

    void pending(int replica, long bytes) {
        pending.put(replica, bytes);
    }

    void carry(String kind, long from, long end) {
        for (long offset = from; offset < end; offset++) {
            payloadsHeld++;
            leader.onCarried(ticket(kind), offset, offset, 0, 10, 1, "p" + offset);
        }
    }

    // ---- what it wanted
    // ---------------------------------------------------------------------------------------------------------

    /** What was wanted since the last time. */
    List<String> take() {
        List<String> taken = List.copyOf(wanted);
        wanted.clear();
        return taken;
    }

    /** The ticket of the last wish of that kind. */
    int ticket(String kind) {
        return tickets.get(kind);
    }

    /** How the last roll or release was to seal. */
    SealFacts sealed() {
        return sealed;
    }

    /** Which bookies the last allocation was to avoid. */
    List<Integer> avoided() {
        return avoided.stream().map(BookieId::value).toList();
    }

    /** Payloads given to the leader and not released. */
    int payloadsHeld() {
        return payloadsHeld;
    }

    private void want(String kind, int ticket, String what) {
        tickets.put(kind, ticket);
        wanted.add(kind + what);
    }

    @Override
    public void fence(int ticket, SegmentDescriptor open, int replica) {
        want("fence" + replica, ticket, " of " + open.id().value());
    }

    @Override
    public void loadState(int ticket, long atOffset, long[] holders) {
        want("load", ticket, " at " + atOffset);
    }

    @Override
    public void readCarry(int ticket, SegmentDescriptor from, int replica, long fromOffset, long endOffset) {
        want("read" + replica, ticket, " " + fromOffset + ".." + endOffset);
    }

    @Override
    public void allocate(int ticket, long startOffset, SortedSet<BookieId> avoid) {
        avoided = avoid;
        want("allocate", ticket, " at " + startOffset);
    }

    @Override
    public void openStreams(SegmentWriter writer) {
        writers.put(writer.number(), writer);
        wanted.add("open " + writer.segment().value());
    }

    @Override
    public void send(int writer, int replica, long first, long last, int crc, String payload, long highWatermark) {
        if (replica == 0) {
            wanted.add("send " + first + " to " + writers.get(writer).segment().value());
        }
    }

    @Override
    public int checkpoint(SegmentWriter writer, long offset) {
        wanted.add("checkpoint at " + offset);
        return 1;
    }

    @Override
    public void onRolling(long startOffset) {
        wanted.add("rolling at " + startOffset);
    }

    @Override
    public void recount(long firstOffset, int sizeBytes, long maxTimestampMs) {}

    @Override
    public void closeStream(int writer, int replica, long sealOffset) {
        wanted.add("close " + writers.get(writer).segment().value() + "/" + replica
                + (sealOffset < 0 ? "" : " sealed at " + sealOffset));
    }

    @Override
    public long pendingBytes(int writer, int replica) {
        return pending.getOrDefault(replica, 0L);
    }

    @Override
    public void roll(int ticket, SealFacts seal, SegmentId opened) {
        sealed = seal;
        want(
                "roll",
                ticket,
                (seal == null ? "" : " sealing " + seal.segment().value() + " at " + seal.endOffset()) + " opening "
                        + opened.value());
    }

    @Override
    public void release(int ticket, SealFacts seal) {
        sealed = seal;
        want("release", ticket, " at " + seal.endOffset());
    }

    @Override
    public void readChain(int ticket) {
        want("chain", ticket, "");
    }

    @Override
    public void confirmReplica(SegmentId segment, BookieId bookie) {
        wanted.add("confirm " + segment.value() + " on " + bookie.value());
    }

    @Override
    public void onServing(long highWatermark) {
        wanted.add("serving at " + highWatermark);
    }

    @Override
    public void onHighWatermark(long highWatermark) {
        wanted.add("acknowledged " + highWatermark);
    }

    @Override
    public void releasePayload(String payload) {
        payloadsHeld--;
    }

    @Override
    public void onDeposed(Deposition why) {
        wanted.add("deposed " + why);
    }
}
