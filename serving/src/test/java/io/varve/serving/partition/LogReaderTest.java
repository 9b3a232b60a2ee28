package io.varve.serving.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentChain;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.testing.InMemoryMetadata;
import io.varve.metadata.testing.StepClock;
import io.varve.protocol.record.RecordBatchHeader;
import io.varve.protocol.storage.EntryFormat;
import io.varve.serving.cache.TailCache;
import io.varve.serving.core.partition.AbortedTxns.Aborted;
import io.varve.serving.core.partition.EndMarker;
import io.varve.serving.core.partition.LogState;
import io.varve.serving.core.partition.SegmentRules;
import io.varve.serving.log.LogError;
import io.varve.serving.log.PartitionLog.AbortedTxn;
import io.varve.serving.log.PartitionLog.Isolation;
import io.varve.serving.log.PartitionLog.Offsets;
import io.varve.serving.log.PartitionLog.ReadResult;
import io.varve.serving.log.PartitionLog.TimestampResult;
import io.varve.tiering.api.RemoteReadException.Kind;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.junit.jupiter.api.Test;

/** What a reader is told of a log whose parts lie on bookies and in the bucket, while the log changes and the bucket has its troubles (I-7). */
class LogReaderTest {

    private static final PartitionId PARTITION = new PartitionId(new TopicId(1, 2), 0);
    private static final long PRODUCER = 77;

    private final FakeTiers tiers = new FakeTiers();
    private final StepClock clock = new StepClock(1_000);
    private final PartitionLoop loop = new PartitionLoop(
            new HereAndNow(),
            (what, fault) -> {
                throw new AssertionError(what, fault);
            },
            1 << 20,
            4);
    private final PartitionContext context = new PartitionContext(
            new PartitionPorts(
                    1,
                    1,
                    new InMemoryMetadata(clock, 1).withBookies(1).newClient(),
                    tiers,
                    tiers,
                    tiers,
                    clock,
                    (what, fault) -> {
                        throw new AssertionError(what, fault);
                    }),
            PartitionOptions.defaults(),
            SegmentRules.STANDARD,
            new AtomicLong(),
            null,
            null);
    private final FakeLog log = new FakeLog();
    private final LogReader reader =
            new LogReader(context, loop, log, new SegmentReader(context), new TailCache(loop.tailBudget()));

    // ---- trouble with the bucket

    @Test
    void aDamagedObjectIsAnErrorUntilItIsWellAgainAndItsLocalCopyIsReadIfThereIsOne_I7() {
        List<ByteBuffer> batches = List.of(data(0, 100), data(1, 101));
        tiers.upload("o", batches, null);
        log.chain = chain(sealed(1, 0, 2, false, "o", false));
        log.endsAt(2);
        for (Kind kind : Kind.values()) {
            tiers.breakReads(kind);
            assertThat(read(0, Isolation.READ_UNCOMMITTED).error()).isEqualTo(LogError.STORAGE_UNAVAILABLE);
            tiers.mend();
            assertThat(bases(read(0, Isolation.READ_UNCOMMITTED))).containsExactly(0L, 1L);
        }
        tiers.breakReads(Kind.CORRUPT);
        tiers.hold(1, batches, null);
        log.chain = chain(sealed(1, 0, 2, true, "o", false));
        assertThat(bases(read(0, Isolation.READ_UNCOMMITTED))).containsExactly(0L, 1L);
    }

    @Test
    void theLocalCopyThatGoesAwayUnderAReadIsReadFromTheBucket() {
        tiers.upload("o", List.of(data(0, 100), data(1, 101)), null);
        log.chain = chain(sealed(1, 0, 2, true, "o", false));
        log.endsAt(2);
        assertThat(bases(read(0, Isolation.READ_UNCOMMITTED))).containsExactly(0L, 1L);
    }

    // ---- aborted transactions

    /** A bookie that has deleted its copy says nothing of what was aborted in it, nor does a store that is away. */
    @Test
    void aTransactionThatWasAbortedIsNotForgottenBecauseNobodyCanSayWhatWas_I7() {
        List<ByteBuffer> batches = List.of(transactional(0, PRODUCER), marker(1, PRODUCER, false));
        tiers.upload("o", batches, stateOf(0, batches).encode());
        log.chain = chain(sealed(1, 0, 2, true, "o", false));
        log.endsAt(2);
        for (Kind kind : Kind.values()) {
            tiers.breakCheckpoints(kind);
            assertThat(read(0, Isolation.READ_COMMITTED).error()).isEqualTo(LogError.STORAGE_UNAVAILABLE);
        }
        tiers.mend();
        assertThat(read(0, Isolation.READ_COMMITTED).aborted()).containsExactly(new AbortedTxn(PRODUCER, 0));
    }

    @Test
    void aCheckpointInTheBucketThatThisBuildCannotReadIsNotOneThatSaysNothing_I7() {
        List<ByteBuffer> batches = List.of(transactional(0, PRODUCER), marker(1, PRODUCER, false));
        ByteBuffer later = stateOf(0, batches).encode();
        tiers.upload("o", batches, later.put(0, (byte) 99));
        log.chain = chain(sealed(1, 0, 2, false, "o", false));
        log.endsAt(2);
        assertThat(read(0, Isolation.READ_COMMITTED).error()).isEqualTo(LogError.STORAGE_UNAVAILABLE);
    }

    @Test
    void aTransactionThatBeganInTheSegmentBeforeIsSkippedInBoth() {
        List<ByteBuffer> first = List.of(transactional(0, PRODUCER), data(1, 100));
        List<ByteBuffer> second = List.of(data(2, 100), marker(3, PRODUCER, false));
        LogState state = stateOf(0, first);
        tiers.upload("o1", first, state.encode());
        state.onSegment(2, LogState.KEEP_ABORTED);
        second.forEach(batch -> apply(state, batch));
        tiers.upload("o2", second, state.encode());
        log.chain = chain(sealed(1, 0, 2, false, "o1", false), sealed(2, 2, 4, false, "o2", false));
        log.endsAt(4);
        assertThat(read(0, Isolation.READ_COMMITTED).aborted()).containsExactly(new AbortedTxn(PRODUCER, 0));
        assertThat(read(2, Isolation.READ_COMMITTED).aborted()).containsExactly(new AbortedTxn(PRODUCER, 0));
    }

    /**
     * The next segment's checkpoint is from before compaction, and names what was aborted in the segment before it, too. Manifests and restorations don't say what was compacted; but a reader that is told of a transaction whose marker is
     * gone would skip what its producer commits afterwards.
     */
    @Test
    void whatCompactionLeftNothingOfIsNotToldByTheCheckpointOfTheNextSegment() {
        List<ByteBuffer> first = List.of(transactional(0, PRODUCER), marker(1, PRODUCER, false));
        List<ByteBuffer> second = List.of(transactional(2, PRODUCER), marker(3, PRODUCER, true));
        LogState state = stateOf(0, first);
        state.onSegment(2, LogState.KEEP_ABORTED);
        second.forEach(batch -> apply(state, batch));
        List<Aborted> named = new ArrayList<>();
        state.aborted().collect(0, 4, named);
        assertThat(named)
                .as("of the first segment")
                .extracting(Aborted::markerOffset)
                .containsExactly(1L);
        tiers.upload("rewritten", List.of(padding(0, 2)), LogState.empty(2).encode());
        tiers.upload("o2", second, state.encode());
        for (boolean isKnownToBeCompacted : new boolean[] {true, false}) {
            log.chain = chain(
                    sealed(3, 0, 2, false, "rewritten", isKnownToBeCompacted), sealed(2, 2, 4, false, "o2", false));
            log.endsAt(4);
            ReadResult told = read(0, Isolation.READ_COMMITTED);
            assertThat(bases(told)).isNotEmpty();
            assertThat(told.aborted()).isEmpty();
        }
    }

    /** Its owner died before it wrote one for the segment, and the one of the segment before is from before the marker: the next one names it. */
    @Test
    void aSegmentWithoutACheckpointSaysNothingOfThoseBeforeIt() {
        List<ByteBuffer> first = List.of(transactional(0, PRODUCER), marker(1, PRODUCER, false));
        List<ByteBuffer> second = List.of(data(2, 100));
        List<ByteBuffer> third = List.of(data(3, 100));
        LogState state = stateOf(0, first);
        state.onSegment(2, LogState.KEEP_ABORTED);
        second.forEach(batch -> apply(state, batch));
        state.onSegment(3, LogState.KEEP_ABORTED);
        third.forEach(batch -> apply(state, batch));
        tiers.upload("o1", first, stateOf(0, first.subList(0, 1)).encode());
        tiers.upload("o2", second, null);
        tiers.upload("o3", third, state.encode());
        log.chain = chain(
                sealed(1, 0, 2, false, "o1", false),
                sealed(2, 2, 3, false, "o2", false),
                sealed(3, 3, 4, false, "o3", false));
        log.endsAt(4);
        assertThat(read(0, Isolation.READ_COMMITTED).aborted()).containsExactly(new AbortedTxn(PRODUCER, 0));
    }

    /** Its rows go with the segment: without them what was aborted in it would pass for committed. */
    @Test
    void whatRetentionTakesAwayUnderACommittedReadIsOutOfRange() {
        List<ByteBuffer> batches = List.of(transactional(0, PRODUCER), marker(1, PRODUCER, false));
        tiers.upload("o1", batches, stateOf(0, batches).encode());
        tiers.upload("o2", List.of(data(2, 100)), LogState.empty(3).encode());
        log.chain = chain(sealed(1, 0, 2, false, "o1", false), sealed(2, 2, 3, false, "o2", false));
        log.endsAt(3);
        tiers.whileReading(() -> {
            log.chain = log.chain.withoutFirst();
            log.logStart = 2;
        });
        ReadResult told = read(0, Isolation.READ_COMMITTED);
        assertThat(told.error()).isEqualTo(LogError.OFFSET_OUT_OF_RANGE);
        assertThat(told.offsets().logStart()).isEqualTo(2);
    }

    /** A topic that was not to be compacted when its small segments became one object, and is later. */
    @Test
    void anObjectIsReadNoFurtherThanToWhatCompactionPutInThePlaceOfItsNextSegment() {
        List<ByteBuffer> together =
                List.of(data(0, 100), data(1, 100), transactional(2, PRODUCER), marker(3, PRODUCER, false));
        tiers.upload("both", together, stateOf(0, together).encode());
        tiers.upload("rewritten", List.of(padding(2, 4)), LogState.empty(4).encode());
        log.chain = chain(
                sealed(1, 0, 2, false, new ObjectRef("both", 1, 1, 1, 0, 4, 100), false),
                sealed(3, 2, 4, false, "rewritten", true));
        log.endsAt(4);
        assertThat(bases(read(0, Isolation.READ_COMMITTED))).containsExactly(0L, 1L);
        log.chain = chain(
                sealed(1, 0, 2, false, new ObjectRef("both", 1, 1, 1, 0, 4, 100), false),
                sealed(2, 2, 4, false, new ObjectRef("both", 1, 1, 1, 0, 4, 100), false));
        assertThat(bases(read(0, Isolation.READ_UNCOMMITTED))).as("read on").containsExactly(0L, 1L, 2L, 3L);
    }

    /** The reader's own segment stands, the next one in the same object is rewritten while its answer is put together. */
    @Test
    void aCommittedReadIsBegunAnewWhenCompactionReplacesAnySegmentOfItsAnswer() {
        List<ByteBuffer> together =
                List.of(data(0, 100), data(1, 100), transactional(2, PRODUCER), marker(3, PRODUCER, false));
        ObjectRef both = new ObjectRef("both", 1, 1, 1, 0, 4, 100);
        tiers.upload("both", together, stateOf(0, together).encode());
        tiers.upload("rewritten", List.of(padding(2, 4)), LogState.empty(4).encode());
        SegmentDescriptor first = sealed(1, 0, 2, false, both, false);
        log.chain = chain(first, sealed(2, 2, 4, false, both, false));
        log.endsAt(4);
        tiers.whileReading(() -> log.chain = chain(first, sealed(3, 2, 4, false, "rewritten", true)));
        ReadResult told = read(0, Isolation.READ_COMMITTED);
        assertThat(told.error()).isEqualTo(LogError.NONE);
        assertThat(bases(told)).containsExactly(0L, 1L);
    }

    // ---- times

    @Test
    void theLatestTimeIsThatOfAnAcknowledgedRecordHoweverMuchIsUnderWay() {
        List<ByteBuffer> batches = List.of(data(0, 100), data(1, 150), data(2, 120), data(3, 900));
        tiers.hold(1, batches, null);
        log.chain = chain(open(1, 0));
        log.state = stateOf(0, batches);
        log.highWatermark = 3;
        log.end = 4;
        assertThat(latest()).contains(at(1, 150));
    }

    @Test
    void theLatestTimeIsFoundInWhicheverTierItIs() {
        tiers.upload("o", List.of(data(0, 500), data(1, 100)), null);
        tiers.hold(2, List.of(data(2, 300), data(3, 200)), null);
        log.chain = chain(sealed(1, 0, 2, false, new ObjectRef("o", 1, 1, 1, 0, 2, 500), false), open(2, 2));
        log.endsAt(4);
        log.state = LogState.empty(2);
        apply(log.state, data(2, 300));
        apply(log.state, data(3, 200));
        assertThat(latest()).contains(at(0, 500));

        tiers.upload("o", List.of(data(0, 250), data(1, 100)), null);
        log.chain = chain(sealed(1, 0, 2, false, new ObjectRef("o", 1, 1, 1, 0, 2, 250), false), open(2, 2));
        assertThat(latest()).contains(at(2, 300));
    }

    /** As Kafka counts them. */
    @Test
    void aMarkerMayHaveTheLatestTime() {
        List<ByteBuffer> batches = List.of(transactional(0, PRODUCER), marker(1, PRODUCER, true));
        tiers.hold(1, batches, null);
        log.chain = chain(open(1, 0));
        log.state = stateOf(0, batches);
        log.endsAt(2);
        assertThat(latest()).contains(at(1, RecordBatchHeader.maxTimestampMs(batches.get(1), 0)));
        tiers.upload("o", batches, null);
        log.chain = chain(sealed(1, 0, 2, false, "o", false));
        assertThat(latest()).contains(at(1, RecordBatchHeader.maxTimestampMs(batches.get(1), 0)));
    }

    @Test
    void aLogWithoutRecordsHasNoLatestTime() {
        log.chain = chain(open(1, 0));
        log.endsAt(0);
        assertThat(latest()).isEmpty();
    }

    /** The owner's state is about the segment to come as soon as the roll begins; the metadata knows of it when it is over. */
    @Test
    void timesAreFoundInTheOpenSegmentWhileARollIsUnderWay() {
        List<ByteBuffer> batches = List.of(data(0, 100), data(1, 150), data(2, 120));
        LogState state = stateOf(0, batches);
        for (ByteBuffer checkpoint :
                new ByteBuffer[] {null, stateOf(0, batches.subList(0, 1)).encode()}) {
            tiers.hold(1, batches, checkpoint);
            log.chain = chain(open(1, 0));
            log.state = LogState.decode(state.encode());
            log.state.onSegment(3, LogState.KEEP_ABORTED);
            log.highWatermark = 3;
            apply(log.state, data(3, 900));
            log.end = 4;
            assertThat(firstAt(100)).contains(at(0, 100));
            assertThat(firstAt(120)).contains(at(1, 150));
            assertThat(firstAt(900)).as("not acknowledged").isEmpty();
            assertThat(latest()).contains(at(1, 150));
        }
    }

    @Test
    void aStoreThatIsAwayIsNoAnswerToATime_I7() {
        tiers.upload("o", List.of(data(0, 100)), null);
        log.chain = chain(sealed(1, 0, 1, false, "o", false), open(2, 1));
        log.endsAt(1);
        tiers.breakReads(Kind.UNAVAILABLE);
        CompletableFuture<TimestampResult> result = new CompletableFuture<>();
        reader.offsetForTimestamp(50, 1, result);
        assertThat(result.join().error()).isEqualTo(LogError.STORAGE_UNAVAILABLE);
    }

    // ---- the log

    /** What a test says of the log, at any time. */
    private static final class FakeLog implements ReadableLog {

        private SegmentChain chain = SegmentChain.EMPTY;
        private LogState state = LogState.empty(0);
        private long logStart;
        private long highWatermark;
        private long end;

        /** All of it is acknowledged, and nothing of it in memory. */
        void endsAt(long endOffset) {
            highWatermark = endOffset;
            end = endOffset;
            state = state.offset() == endOffset ? state : LogState.empty(endOffset);
        }

        @Override
        public PartitionId id() {
            return PARTITION;
        }

        @Override
        public int ownedEpoch() {
            return 1;
        }

        @Override
        public Offsets offsets() {
            return new Offsets(logStart, logStart, highWatermark, highWatermark, end);
        }

        @Override
        public boolean isServing() {
            return true;
        }

        @Override
        public PartitionState partition() {
            return new PartitionState(PARTITION, 1, 1, logStart, chain);
        }

        @Override
        public LogState state() {
            return state;
        }

        @Override
        public long bound(Isolation isolation) {
            return highWatermark;
        }
    }

    private ReadResult read(long fromOffset, Isolation isolation) {
        CompletableFuture<ReadResult> result = new CompletableFuture<>();
        reader.read(fromOffset, 1 << 20, true, isolation, result);
        return result.join();
    }

    private static List<Long> bases(ReadResult result) {
        List<Long> bases = new ArrayList<>();
        for (ByteBuf batch : result.batches()) {
            bases.add(RecordBatchHeader.baseOffset(batch.nioBuffer(), 0));
        }
        result.release();
        return bases;
    }

    private Optional<List<Long>> latest() {
        CompletableFuture<TimestampResult> result = new CompletableFuture<>();
        reader.maxTimestamp(result);
        return found(result);
    }

    private Optional<List<Long>> firstAt(long timestampMs) {
        CompletableFuture<TimestampResult> result = new CompletableFuture<>();
        reader.offsetForTimestamp(timestampMs, log.highWatermark, result);
        return found(result);
    }

    private static Optional<List<Long>> found(CompletableFuture<TimestampResult> result) {
        assertThat(result.join().error()).isEqualTo(LogError.NONE);
        return result.join().found().map(found -> at(found.offset(), found.timestampMs()));
    }

    private static List<Long> at(long offset, long timestampMs) {
        return List.of(offset, timestampMs);
    }

    private LogState stateOf(long startOffset, List<ByteBuffer> batches) {
        LogState state = LogState.empty(startOffset);
        batches.forEach(batch -> apply(state, batch));
        return state;
    }

    private void apply(LogState state, ByteBuffer batch) {
        state.apply(batch, EntryFormat.HEADER_BYTES + batch.remaining(), clock.wallTimeMs());
    }

    // ---- batches of one record

    private static ByteBuffer data(long offset, long timestampMs) {
        return placed(MemoryRecords.withRecords(Compression.NONE, record(timestampMs)), offset);
    }

    private static ByteBuffer transactional(long offset, long producer) {
        return placed(
                MemoryRecords.withTransactionalRecords(Compression.NONE, producer, (short) 0, 0, record(100)), offset);
    }

    private static SimpleRecord record(long timestampMs) {
        return new SimpleRecord(timestampMs, "v".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    }

    private static ByteBuffer marker(long offset, long producer, boolean commit) {
        ByteBuffer marker = ByteBuffer.allocate(EndMarker.BYTES);
        new EndMarker(producer, (short) 0, 1, commit).write(marker, 140);
        marker.clear();
        RecordBatchHeader.setBaseOffset(marker, 0, offset);
        return marker;
    }

    private static ByteBuffer padding(long startOffset, long endOffset) {
        ByteBuffer batch =
                MemoryRecords.withRecords(Compression.NONE, record(1)).buffer().slice(0, RecordBatchHeader.BYTES);
        ByteBuffer padding =
                ByteBuffer.allocate(RecordBatchHeader.BYTES).put(batch).flip();
        padding.putInt(8, RecordBatchHeader.BYTES - RecordBatchHeader.LENGTH_PREFIX_BYTES);
        padding.putInt(23, (int) (endOffset - startOffset - 1)).putInt(57, 0);
        RecordBatchHeader.setBaseOffset(padding, 0, startOffset);
        return padding;
    }

    private static ByteBuffer placed(MemoryRecords records, long offset) {
        ByteBuffer batch = records.buffer().slice();
        RecordBatchHeader.setBaseOffset(batch, 0, offset);
        return batch;
    }

    // ---- segments

    private static SegmentChain chain(SegmentDescriptor... segments) {
        SegmentChain chain = SegmentChain.EMPTY;
        for (SegmentDescriptor segment : segments) {
            chain = chain.append(segment);
        }
        return chain;
    }

    private static SegmentDescriptor sealed(
            long id, long start, long end, boolean isLocal, String key, boolean isCompacted) {
        return sealed(id, start, end, isLocal, new ObjectRef(key, 1, 1, 1, start, end, 140), isCompacted);
    }

    private static SegmentDescriptor sealed(
            long id, long start, long end, boolean isLocal, ObjectRef object, boolean isCompacted) {
        return new SegmentDescriptor(
                new SegmentId(id),
                PARTITION,
                0,
                SegmentDescriptor.State.SEALED,
                start,
                end,
                1,
                isLocal ? List.of(new Replica(new BookieId(1), 0)) : List.of(),
                List.of(),
                100,
                object.maxTimestampMs(),
                0,
                1,
                Optional.of(object),
                isCompacted ? end : SegmentDescriptor.NEVER_COMPACTED);
    }

    private static SegmentDescriptor open(long id, long start) {
        return new SegmentDescriptor(
                new SegmentId(id),
                PARTITION,
                0,
                SegmentDescriptor.State.OPEN,
                start,
                SegmentDescriptor.UNSEALED,
                1,
                List.of(new Replica(new BookieId(1), 0)),
                List.of(),
                -1,
                -1,
                0,
                -1,
                Optional.empty());
    }
}
