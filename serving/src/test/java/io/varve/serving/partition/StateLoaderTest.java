package io.varve.serving.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.Unpooled;
import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.bookie.client.BookieAddress;
import io.varve.bookie.client.BookieStatus;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentChain;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.testing.InMemoryMetadata;
import io.varve.metadata.testing.StepClock;
import io.varve.protocol.record.RecordBatchHeader;
import io.varve.protocol.storage.EntryFormat;
import io.varve.serving.core.partition.LogState;
import io.varve.serving.core.partition.SegmentRules;
import io.varve.tiering.api.ChainManifests;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.api.RemoteReadException.Kind;
import io.varve.tiering.api.RemoteSegments;
import io.varve.tiering.api.SealedSegmentSource.Checkpoint;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** An owner's state is rebuilt from the newest checkpoint there is, in the chain or in the manifest behind it. */
class StateLoaderTest {

    private static final PartitionId PARTITION = new PartitionId(new TopicId(1, 2), 0);
    private static final int OFFSETS_EACH = 10;
    private static final long MANIFEST_END = 30;
    private static final long END = 40;

    private final TreeMap<Long, SegmentDescriptor> segments = new TreeMap<>();
    private final FakeBucket bucket = new FakeBucket();
    private final FakeBookie bookie = new FakeBookie();
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
                    bookie,
                    bucket,
                    bucket,
                    clock,
                    (what, fault) -> {
                        throw new AssertionError(what, fault);
                    }),
            PartitionOptions.defaults(),
            SegmentRules.STANDARD,
            new AtomicLong(),
            null,
            null);

    StateLoaderTest() {
        for (long start = 0; start < END; start += OFFSETS_EACH) {
            segments.put(start, segment(start));
        }
    }

    @Test
    void theNewestCheckpointIsLookedForInTheManifestWhenTheChainHasNone() {
        bucket.checkpoints.put("o10", stateAt(12));
        assertThat(load().join().encode()).isEqualTo(stateAt(END).encode());
        assertThat(bucket.readFrom).as("not before the checkpoint").containsExactly(12L, 20L, 30L);
    }

    @Test
    void withoutAnyCheckpointTheWholeLogIsReplayed() {
        assertThat(load().join().encode()).isEqualTo(stateAt(END).encode());
        assertThat(bucket.readFrom).containsExactly(0L, 10L, 20L, 30L);
    }

    @Test
    void aManifestThatCannotBeReadIsTroubleAndNotTheBeginningOfTheLog_I7() {
        bucket.manifestIsMissing = true;
        assertThatThrownBy(() -> load().join())
                .hasCauseInstanceOf(StateLoader.StateUnavailableException.class)
                .hasMessageContaining("offset " + MANIFEST_END);
    }

    /** All that is sealed may lie in object storage alone, and be described there alone: a takeover doesn't wait for it. */
    @Test
    void theOpenSegmentsFirstCheckpointSavesLookingIntoObjectStorage() {
        bookie.checkpoints.put(open().id(), stateAt(END));
        bucket.manifestIsMissing = true;
        assertThat(load(chain().append(open())).join().offset()).isEqualTo(END);
        assertThat(bucket.checkpointsAsked).isEmpty();
        assertThat(bucket.readFrom).isEmpty();
    }

    @Test
    void withoutOneAtTheStartOfTheOpenSegmentTheSegmentBeforeIsAsked() {
        bucket.checkpoints.put("o30", stateAt(35));
        assertThat(load(chain().append(open())).join().encode()).isEqualTo(opened(stateAt(END)));
        bookie.status = BookieStatus.NO_ANSWER;
        assertThat(load(chain().append(open())).join().encode()).isEqualTo(opened(stateAt(END)));
        assertThat(bucket.readFrom).containsExactly(35L, 35L);
    }

    /** An object that several segments share still has the checkpoints of those that compaction rewrote since. They lie where the rewrite has no entry's start. */
    @Test
    void aCheckpointInWhatWasRewrittenSinceIsNotUsed() {
        SegmentDescriptor rewrite = segment(20, "rewrite", 20, 30);
        SegmentDescriptor last = segment(30, "shared", 20, 40);
        bucket.rewrites.add("rewrite");
        bucket.checkpoints.put("rewrite", stateAt(30));
        bucket.checkpoints.put("shared", stateAt(25));
        SegmentChain chain = SegmentChain.EMPTY
                .append(segments.get(0L))
                .append(segments.get(10L))
                .append(rewrite)
                .append(last);
        assertThat(load(chain).join().encode()).isEqualTo(stateAt(END).encode());
        assertThat(bucket.readFrom).containsExactly(30L);
    }

    /** What an owner had written beyond where its segment was sealed in the end may have been lost, and another owner may have written something else there. */
    @Test
    void aCheckpointAboveItsSegmentsEndIsNotBelieved() {
        SegmentDescriptor sealedBelow = segment(20, List.of(new Replica(new BookieId(1), 0)), "o20", 20, 30);
        bookie.checkpoints.put(sealedBelow.id(), LogState.empty(35));
        bucket.checkpoints.put("o20", stateAt(25));
        SegmentChain chain = SegmentChain.EMPTY.append(sealedBelow).append(segments.get(30L));
        assertThat(load(chain).join().encode()).isEqualTo(stateAt(END).encode());
        assertThat(bucket.readFrom).containsExactly(25L, 30L);
    }

    private static ByteBuffer opened(LogState state) {
        state.onSegment(END, LogState.KEEP_ABORTED);
        return state.encode();
    }

    private CompletableFuture<LogState> load() {
        return load(chain());
    }

    private CompletableFuture<LogState> load(SegmentChain chain) {
        PartitionState state = new PartitionState(PARTITION, 1, 0, 0, chain);
        return new StateLoader(context, loop, new SegmentReader(context), state, END).load();
    }

    private SegmentChain chain() {
        ManifestRef manifest = new ManifestRef(
                "root", 1, 0, MANIFEST_END, 3, 300, 1, 100, 1, List.of(new ManifestRef.Mark(MANIFEST_END, 300, 1)));
        return SegmentChain.EMPTY.withManifest(Optional.of(manifest)).append(segments.get(MANIFEST_END));
    }

    private LogState stateAt(long endOffset) {
        LogState state = LogState.empty(0);
        for (long offset = 0; offset < endOffset; offset++) {
            if (offset > 0 && offset % OFFSETS_EACH == 0) {
                state.onSegment(offset, LogState.KEEP_ABORTED);
            }
            ByteBuffer batch = batch(offset);
            state.apply(batch, EntryFormat.HEADER_BYTES + batch.remaining(), clock.wallTimeMs());
        }
        return state;
    }

    private static ByteBuffer batch(long offset) {
        ByteBuffer batch = ByteBuffer.allocate(RecordBatchHeader.BYTES + 10);
        batch.putLong(offset)
                .putInt(batch.capacity() - RecordBatchHeader.LENGTH_PREFIX_BYTES)
                .putInt(-1)
                .put(RecordBatchHeader.MAGIC)
                .putInt(0)
                .putShort((short) 0)
                .putInt(0)
                .putLong(1_000 + offset)
                .putLong(1_000 + offset)
                .putLong(100)
                .putShort((short) 0)
                .putInt((int) offset)
                .putInt(1)
                .clear();
        RecordBatchHeader.setLeaderEpoch(batch, 0, (int) offset / 15);
        return batch;
    }

    private static ByteBuffer entry(long offset) {
        return entry(offset, offset);
    }

    private static ByteBuffer entry(long offset, long lastOffset) {
        ByteBuffer payload = batch(offset);
        ByteBuffer entry = ByteBuffer.allocate(EntryFormat.HEADER_BYTES + payload.remaining());
        EntryFormat.putHeader(
                entry, offset, lastOffset, payload.remaining(), EntryFormat.checksum(offset, lastOffset, payload));
        return entry.put(payload).flip();
    }

    private static SegmentDescriptor segment(long startOffset) {
        return segment(startOffset, "o" + startOffset, startOffset, startOffset + OFFSETS_EACH);
    }

    private static SegmentDescriptor segment(long startOffset, String key, long objectStart, long objectEnd) {
        return segment(startOffset, List.of(), key, objectStart, objectEnd);
    }

    private static SegmentDescriptor segment(
            long startOffset, List<Replica> replicas, String key, long objectStart, long objectEnd) {
        return new SegmentDescriptor(
                new SegmentId(1 + startOffset),
                PARTITION,
                0,
                SegmentDescriptor.State.SEALED,
                startOffset,
                startOffset + OFFSETS_EACH,
                2,
                replicas,
                List.of(),
                100,
                1,
                0,
                1,
                Optional.of(new ObjectRef(key, 1, 1, 1, objectStart, objectEnd, 1)));
    }

    private static SegmentDescriptor open() {
        return new SegmentDescriptor(
                new SegmentId(1 + END),
                PARTITION,
                0,
                SegmentDescriptor.State.OPEN,
                END,
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

    /** A bookie with checkpoints that gives no entries: of the open segment there are none yet. */
    private static final class FakeBookie implements ReadOnlyBookies {

        private final TreeMap<SegmentId, LogState> checkpoints = new TreeMap<>();
        private BookieStatus status = BookieStatus.BEYOND_END;

        @Override
        public CompletableFuture<CheckpointReply> readCheckpoint(
                BookieAddress bookie, SegmentId segment, long atMostOffset, long timeoutMs) {
            return CompletableFuture.completedFuture(Optional.ofNullable(checkpoints.get(segment))
                    .filter(state -> state.offset() <= atMostOffset)
                    .map(state -> new CheckpointReply(
                            BookieStatus.OK, state.offset(), Unpooled.wrappedBuffer(state.encode())))
                    .orElseGet(() -> new CheckpointReply(status, -1, Unpooled.EMPTY_BUFFER)));
        }

        @Override
        public CompletableFuture<ReadReply> read(
                BookieAddress bookie,
                SegmentId segment,
                long fromOffset,
                int maxBytes,
                ReadPriority priority,
                long timeoutMs) {
            return CompletableFuture.completedFuture(
                    new ReadReply(BookieStatus.NO_ANSWER, Unpooled.EMPTY_BUFFER, -1, -1));
        }

        @Override
        public void close() {
            // Nothing is open.
        }
    }

    /** Segments and manifests as they would be read from the bucket. */
    private final class FakeBucket implements RemoteSegments, ChainManifests {

        private final Map<String, LogState> checkpoints = new TreeMap<>();
        private final List<Long> readFrom = new ArrayList<>();
        private final List<String> checkpointsAsked = new ArrayList<>();
        /** Objects of which compaction made a single entry. */
        private final List<String> rewrites = new ArrayList<>();

        private boolean manifestIsMissing;

        @Override
        public CompletableFuture<RemoteEntries> read(
                ObjectRef object, PartitionId partition, long fromOffset, int maxBytes, Following following) {
            readFrom.add(fromOffset);
            List<ByteBuffer> entries = new ArrayList<>();
            if (rewrites.contains(object.key())) {
                entries.add(entry(object.startOffset(), object.endOffset() - 1));
                return CompletableFuture.completedFuture(RemoteEntries.of(entries, object.endOffset()));
            }
            for (long offset = fromOffset; offset < object.endOffset(); offset++) {
                entries.add(entry(offset));
            }
            return CompletableFuture.completedFuture(RemoteEntries.of(entries, object.endOffset()));
        }

        @Override
        public CompletableFuture<Optional<Checkpoint>> checkpoint(
                ObjectRef object, PartitionId partition, long atMostOffset) {
            checkpointsAsked.add(object.key());
            return CompletableFuture.completedFuture(Optional.ofNullable(checkpoints.get(object.key()))
                    .map(state -> new Checkpoint(state.offset(), state.encode())));
        }

        @Override
        public CompletableFuture<Optional<SegmentDescriptor>> segmentAt(
                ManifestRef manifest, PartitionId partition, long offset) {
            return manifestIsMissing
                    ? CompletableFuture.failedFuture(new RemoteReadException(Kind.MISSING, "root", null))
                    : CompletableFuture.completedFuture(
                            Optional.of(segments.floorEntry(offset).getValue()));
        }

        @Override
        public CompletableFuture<Optional<Long>> entryForTimestamp(
                ObjectRef object, PartitionId partition, long timestampMs) {
            throw new UnsupportedOperationException("no times here");
        }

        @Override
        public CompletableFuture<Optional<SegmentDescriptor>> segmentAtTimestamp(
                ManifestRef manifest, PartitionId partition, long timestampMs, long fromOffset) {
            throw new UnsupportedOperationException("no times here");
        }

        @Override
        public CompletableFuture<Long> timestampMsMost(ManifestRef manifest, PartitionId partition, long fromOffset) {
            throw new UnsupportedOperationException("no times here");
        }

        @Override
        public void close() {
            // Nothing is open.
        }
    }
}
