package io.varve.serving.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.base.BookieId;
import io.varve.base.FaultHandler;
import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataClient.Roll;
import io.varve.metadata.api.MetadataClient.Seal;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.metadata.testing.InMemoryMetadata;
import io.varve.metadata.testing.StepClock;
import io.varve.protocol.record.RecordBatchHeader;
import io.varve.protocol.storage.EntryFormat;
import io.varve.serving.core.partition.AbortedTxns.Aborted;
import io.varve.serving.core.partition.EndMarker;
import io.varve.serving.core.partition.LogState;
import io.varve.serving.core.partition.ProducerStates.LastBatch;
import io.varve.serving.core.partition.SegmentRules;
import io.varve.serving.log.PartitionLog.Isolation;
import io.varve.serving.log.PartitionLog.Offsets;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.SimpleRecord;

/** A partition of a compacted topic on three bookies, for its owner's compaction to be stepped through. The metadata service is the real one, in this process. */
final class CompactedPartition implements CompactableLog, ReadableLog {

    static final int BROKER = 1;
    static final long INCARNATION = 11;

    final StepClock clock = new StepClock(1_000_000);
    final InMemoryMetadata metadata = new InMemoryMetadata(clock, 1).withBookies(3);
    final MetadataClient client = metadata.newClient();
    final ScriptedBookies bookies = new ScriptedBookies();
    final SteppedThread thread = new SteppedThread();
    final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    final CompactionMetrics metrics = new CompactionMetrics(registry);
    final List<Aborted> aborted = new ArrayList<>();
    final List<LastBatch> lastBatches = new ArrayList<>();
    final PartitionContext context;
    final PartitionLoop loop;

    boolean lost;
    boolean isStateKnown = true;
    private final PartitionId id;
    private final int epoch;
    private SegmentDescriptor open;
    private final LogState state = LogState.empty(0);
    private long end;

    CompactedPartition(CompactionOptions compaction) {
        FaultHandler faults = (what, fault) -> {
            throw new AssertionError(what, fault);
        };
        PartitionPorts ports = new PartitionPorts(BROKER, INCARNATION, client, bookies, null, null, clock, faults);
        context = new PartitionContext(ports, options(compaction), SegmentRules.STANDARD, new AtomicLong(), null, null);
        loop = new PartitionLoop(thread, faults, 1 << 20, 4);
        client.registerBroker(new BrokerInfo(
                        BROKER,
                        INCARNATION,
                        "",
                        List.of(new BrokerInfo.Endpoint("PLAINTEXT", "PLAINTEXT", "localhost", 9092)),
                        BrokerInfo.State.LIVE))
                .join();
        Topic topic = client.createTopic(
                        "t", 1, 3, Map.of("cleanup.policy", "compact", "min.cleanable.dirty.ratio", "0.01"))
                .join();
        id = new PartitionId(topic.id(), 0);
        epoch = client.view().partition(id).orElseThrow().epoch();
        openNext(Optional.empty());
    }

    private static PartitionOptions options(CompactionOptions compaction) {
        PartitionOptions o = PartitionOptions.defaults();
        return new PartitionOptions(
                o.loops(),
                o.tickMs(),
                o.cacheBytes(),
                o.pendingBytesMax(),
                o.pendingBytesTotalMax(),
                o.lagBytesMax(),
                o.lagMs(),
                o.avoidMs(),
                o.checkpointBytes(),
                o.callTimeoutMs(),
                o.recoveryReadsMax(),
                o.readBytesMax(),
                o.producerIdExpirationMs(),
                o.rebalanceDelayMs(),
                compaction);
    }

    // ---- writing

    /** Appends a batch of key-value pairs. */
    CompactedPartition put(String... pairs) {
        SimpleRecord[] records = new SimpleRecord[pairs.length / 2];
        for (int i = 0; i < records.length; i++) {
            records[i] = new SimpleRecord(clock.wallTimeMs(), bytes(pairs[2 * i]), bytes(pairs[2 * i + 1]));
        }
        ByteBuffer batch =
                MemoryRecords.withRecords(Compression.NONE, records).buffer().duplicate();
        return put(batch);
    }

    /** Appends a batch, wherever it was. */
    CompactedPartition put(ByteBuffer batch) {
        RecordBatchHeader.setBaseOffset(batch, batch.position(), end);
        RecordBatchHeader.setLeaderEpoch(batch, batch.position(), epoch);
        return append(batch);
    }

    /** Appends what says that it is a batch and isn't. */
    CompactedPartition putGarbage() {
        ByteBuffer padding = RecordBatchHeader.padding(end, end, epoch);
        return append(padding.put(RecordBatchHeader.BYTES - 1, (byte) 1));
    }

    /** Appends the marker of an aborted transaction. */
    CompactedPartition abort(long producerId) {
        ByteBuffer marker = ByteBuffer.allocate(EndMarker.BYTES);
        new EndMarker(producerId, (short) 0, 0, false).write(marker, clock.wallTimeMs());
        return put(marker.flip());
    }

    private CompactedPartition append(ByteBuffer batch) {
        end = RecordBatchHeader.lastOffset(batch, batch.position()) + 1;
        hold(open, batch);
        state.apply(batch, EntryFormat.HEADER_BYTES + batch.remaining(), clock.wallTimeMs());
        return this;
    }

    private void hold(SegmentDescriptor segment, ByteBuffer batch) {
        int at = batch.position();
        long first = RecordBatchHeader.baseOffset(batch, at);
        long last = RecordBatchHeader.lastOffset(batch, at);
        segment.replicas().forEach(replica -> bookies.put(replica.bookie(), segment.id(), batch, first, last));
    }

    /** Puts a segment of these batches in the place of one. */
    void replace(SegmentDescriptor input, ByteBuffer... batches) {
        SegmentDescriptor rewrite =
                client.allocateRewrite(id, epoch, List.of(input.id()), Set.of()).join();
        for (ByteBuffer batch : batches) {
            hold(rewrite, batch);
        }
        Seal seal = new Seal(rewrite.id(), rewrite.endOffset(), 1, -1, holders(rewrite));
        client.replaceSegments(id, epoch, seal, List.of(input.id()), rewrite.endOffset())
                .join();
    }

    private static Set<BookieId> holders(SegmentDescriptor segment) {
        Set<BookieId> holders = new TreeSet<>();
        segment.replicas().forEach(replica -> holders.add(replica.bookie()));
        return holders;
    }

    /** Seals the open segment. */
    CompactedPartition roll() {
        return rollWithTime(state.segmentMaxTimestampMs());
    }

    /** Seals the open segment, whose newest record is said to be of that time. */
    CompactedPartition rollWithTime(long maxTimestampMs) {
        open.replicas()
                .forEach(replica -> bookies.checkpoints(replica.bookie(), open.id())
                        .put(end, state.encode().array()));
        openNext(Optional.of(new Seal(open.id(), end, state.segmentBytes(), maxTimestampMs, holders(open))));
        state.onSegment(end, LogState.KEEP_ABORTED);
        return this;
    }

    private void openNext(Optional<Seal> seal) {
        SegmentDescriptor next =
                client.allocateSegment(id, epoch, end, Set.of()).join();
        client.roll(new Roll(id, epoch, seal, next.id())).join();
        open = client.view().segment(next.id()).orElseThrow();
    }

    static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }

    // ---- reading

    List<SegmentDescriptor> chain() {
        return List.copyOf(client.view().partition(id).orElseThrow().chain().segments());
    }

    List<SegmentDescriptor> sealed() {
        return chain().subList(0, chain().size() - 1);
    }

    /** All records of the sealed segments but for markers, each as {@code offset:key=value}; every replica that may be read holds the same, without a gap. */
    List<String> pairs() {
        List<String> pairs = new ArrayList<>();
        long next = 0;
        for (SegmentDescriptor segment : sealed()) {
            assertThat(segment.startOffset()).isEqualTo(next);
            List<ByteBuffer> batches = bookies.batches(segment.replicas().get(0).bookie(), segment.id());
            for (Replica replica : segment.replicas()) {
                assertThat(bookies.batches(replica.bookie(), segment.id())).isEqualTo(batches);
            }
            for (ByteBuffer batch : batches) {
                assertThat(RecordBatchHeader.baseOffset(batch, 0)).as("I-8").isEqualTo(next);
                next = RecordBatchHeader.lastOffset(batch, 0) + 1;
                pairs.addAll(pairsOf(batch));
            }
            assertThat(segment.endOffset()).isEqualTo(next);
        }
        return pairs;
    }

    private static List<String> pairsOf(ByteBuffer batch) {
        List<String> pairs = new ArrayList<>();
        for (MutableRecordBatch one :
                MemoryRecords.readableRecords(batch.duplicate()).batches()) {
            if (one.isControlBatch()) {
                continue;
            }
            for (Record record : one) {
                String value = record.hasValue()
                        ? StandardCharsets.UTF_8.decode(record.value()).toString()
                        : "-";
                pairs.add(record.offset() + ":" + StandardCharsets.UTF_8.decode(record.key()) + "=" + value);
            }
        }
        return pairs;
    }

    double counted(String meter, String... tags) {
        return registry.get("varve.broker.compaction." + meter)
                .tags(tags)
                .counter()
                .count();
    }

    double gauge(String meter) {
        return registry.get("varve.broker.compaction." + meter).gauge().value();
    }

    // ---- the owner

    @Override
    public PartitionId id() {
        return id;
    }

    @Override
    public int epoch() {
        return epoch;
    }

    @Override
    public PartitionState partition() {
        return client.view().partition(id).orElseThrow();
    }

    @Override
    public Offsets offsets() {
        return new Offsets(0, 0, end, end, end);
    }

    @Override
    public int ownedEpoch() {
        return epoch;
    }

    /** As after a takeover: what was aborted before is in the segments' checkpoints alone. */
    @Override
    public LogState state() {
        return LogState.empty(end);
    }

    @Override
    public long bound(Isolation isolation) {
        return end;
    }

    @Override
    public boolean isServing() {
        return !lost;
    }

    @Override
    public boolean isLost() {
        return lost;
    }

    @Override
    public CompletableFuture<CompactionSource> forCompaction(long dirtyOffset, long endOffset) {
        return isStateKnown
                ? CompletableFuture.completedFuture(new CompactionSource(lastBatches, aborted))
                : CompletableFuture.failedFuture(new IllegalStateException("not now"));
    }
}
