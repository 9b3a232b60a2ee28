package io.varve.bookie.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.Unpooled;
import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.StartupException;
import io.varve.bookie.client.AppendListener;
import io.varve.bookie.client.AppendStream;
import io.varve.bookie.client.BookieAddress;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieClient.FenceRequest;
import io.varve.bookie.client.BookieClientOptions;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.client.RemoteBookieClient;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataListener;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.client.MetadataClientOptions;
import io.varve.metadata.client.RemoteMetadataClient;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.metadata.server.MetadataConfig;
import io.varve.metadata.server.MetadataNode;
import io.varve.protocol.config.NodeAddress;
import io.varve.protocol.rpc.RpcBounds;
import io.varve.protocol.rpc.RpcClientOptions;
import io.varve.protocol.rpc.RpcIdentity;
import io.varve.protocol.rpc.RpcLoops;
import io.varve.protocol.rpc.RpcRole;
import io.varve.protocol.runtime.SystemClock;
import io.varve.protocol.runtime.SystemRandomness;
import io.varve.protocol.storage.EntryFormat;
import io.varve.sim.RecordingFaultHandler;
import io.varve.testing.TestPorts;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Bookies with real disks, a real metadata node and a local object store; the test plays the broker. */
@Timeout(120)
class BookieNodeIT {

    private static final int BROKER = 1;
    private static final long WAIT_S = 60;

    @TempDir
    private Path directory;

    private final RecordingFaultHandler faults = new RecordingFaultHandler();
    private final RpcLoops loops = RpcLoops.start("bookie-node-it", 1);
    private final Map<Integer, BookieNode> bookies = new TreeMap<>();
    private MetadataNode metadataNode;
    private RemoteMetadataClient metadata;
    private RemoteBookieClient client;
    private int metadataPort;

    @BeforeEach
    void startMetadata() throws Exception {
        metadataPort = TestPorts.own().getAsInt();
        int raftPort = TestPorts.own().getAsInt();
        Map<String, String> config = new HashMap<>(Map.of(
                "metadata.node.id", "1",
                "metadata.servers", "1@127.0.0.1:" + metadataPort,
                "metadata.raft.servers", "1@127.0.0.1:" + raftPort,
                "metadata.data.dir", directory.resolve("metadata").toString(),
                "metadata.offload.delay.ms", "100",
                "metadata.offload.small.bytes", "0",
                "metadata.plan.interval.ms", "50",
                "metadata.repair.delay.ms", "500"));
        metadataNode = MetadataNode.start(
                MetadataConfig.of(MetadataConfig.SCHEMA.check("test", config, Map.of(), Map.of())),
                SystemClock.INSTANCE,
                SystemRandomness.INSTANCE,
                faults,
                new SimpleMeterRegistry());
        RpcIdentity self = new RpcIdentity(RpcRole.BROKER, BROKER, 7, "");
        metadata = RemoteMetadataClient.connect(
                MetadataClientOptions.of(
                        List.of(new NodeAddress(1, "127.0.0.1", metadataPort)),
                        self,
                        loops,
                        SystemClock.INSTANCE,
                        SystemRandomness.INSTANCE,
                        faults),
                20_000);
        client = new RemoteBookieClient(BookieClientOptions.of(new RpcClientOptions(
                () -> self, loops, SystemClock.INSTANCE, SystemRandomness.INSTANCE, faults, RpcBounds.DEFAULT)));
    }

    @AfterEach
    void stopAll() {
        bookies.values().forEach(BookieNode::close);
        client.close();
        metadata.close();
        metadataNode.close();
        loops.close();
        faults.assertNone();
    }

    @Test
    void aSealedSegmentIsOffloadedByABookieAndItsLocalCopiesAreDeletedByOrder() throws Exception {
        startBookies(3);
        PartitionId partition = topic(Map.of("local.retention.ms", "1", "retention.ms", "-1"));
        SegmentDescriptor first = rollTo(partition, Optional.empty(), 0, 3);
        append(first, 0, 100);
        SegmentDescriptor second = rollTo(partition, Optional.of(first), 100, 3);

        SegmentDescriptor offloaded = await(v -> v.segment(first.id()).filter(SegmentDescriptor::isOffloaded));
        assertThat(offloaded.object().orElseThrow().endOffset()).isEqualTo(100);
        try (Stream<Path> files = Files.walk(directory.resolve("objects"))) {
            assertThat(files.map(Path::toString)).anyMatch(f -> f.endsWith(".seg"));
        }
        awaitTrue(v -> v.segment(first.id()).filter(s -> s.replicas().isEmpty()).isPresent()
                && v.tasks().isEmpty());
        for (int id = 1; id <= 3; id++) {
            assertThat(client.describe(address(id), first.id(), 5_000).get().status())
                    .as("bookie " + id)
                    .isEqualTo(BookieStatus.NO_SUCH_SEGMENT);
            assertThat(client.describe(address(id), second.id(), 5_000).get().status())
                    .isIn(BookieStatus.OK, BookieStatus.NO_SUCH_SEGMENT);
        }
    }

    @Test
    void aReplicaOfABookieThatIsGoneIsCopiedToAnother() throws Exception {
        startBookies(4);
        PartitionId partition = topic(Map.of("remote.storage.enable", "false"));
        SegmentDescriptor first = rollTo(partition, Optional.empty(), 0, 3);
        append(first, 0, 500);
        rollTo(partition, Optional.of(first), 500, 3);
        Replica victim = first.replicas().get(0);
        bookies.remove(victim.bookie().value()).close();

        SegmentDescriptor repaired = await(v -> v.segment(first.id())
                .filter(s -> s.replicas().size() == 3
                        && s.replicas().stream().noneMatch(r -> r.bookie().equals(victim.bookie()))));
        for (Replica replica : repaired.replicas()) {
            FenceReply held = client.describe(address(replica.bookie().value()), first.id(), 5_000)
                    .get();
            assertThat(held.status()).isEqualTo(BookieStatus.OK);
            assertThat(held.end()).isEqualTo(500);
            assertThat(held.sealed()).isTrue();
        }
    }

    @Test
    void aRestartedBookieComesBackWithWhatItAcknowledgedAndWithItsFences() throws Exception {
        startBookies(3);
        PartitionId partition = topic(Map.of());
        SegmentDescriptor first = rollTo(partition, Optional.empty(), 0, 3);
        append(first, 0, 50);
        int epoch = metadata.view().partition(partition).orElseThrow().epoch();
        Replica replica = first.replicas().get(0);
        int id = replica.bookie().value();
        client.fence(
                        address(id),
                        List.of(new FenceRequest(partition, epoch + 5, first.id(), replica.incarnation())),
                        5_000)
                .get();
        bookies.remove(id).close();
        awaitTrue(v -> v.bookie(new BookieId(id)).orElseThrow().state() == BookieInfo.State.GONE);
        startBookie(id);
        awaitTrue(v -> v.bookie(new BookieId(id)).orElseThrow().state() == BookieInfo.State.WRITABLE);
        FenceReply again = client.fence(
                        address(id),
                        List.of(new FenceRequest(partition, epoch + 1, first.id(), replica.incarnation())),
                        5_000)
                .get()
                .get(0);
        assertThat(again.status()).isEqualTo(BookieStatus.FENCED);
        assertThat(again.fenceEpoch()).isEqualTo(epoch + 5);
        assertThat(client.describe(address(id), first.id(), 5_000).get().end()).isEqualTo(50);
    }

    @Test
    void aReplicaThatWasBehindAtTheSealConfirmsItselfWhenItHasCaughtUp() throws Exception {
        startBookies(3);
        PartitionId partition = topic(Map.of("remote.storage.enable", "false"));
        SegmentDescriptor first = rollTo(partition, Optional.empty(), 0, 3);
        append(first, 0, 20);
        // The owner knew of two holders only when it sealed.
        Replica behind = first.replicas().get(2);
        Set<BookieId> holders = new TreeSet<>(List.of(
                first.replicas().get(0).bookie(), first.replicas().get(1).bookie()));
        SegmentDescriptor next =
                metadata.allocateSegment(partition, first.epoch(), 20, Set.of()).get();
        metadata.roll(new MetadataClient.Roll(
                        partition,
                        first.epoch(),
                        Optional.of(new MetadataClient.Seal(first.id(), 20, 1, -1, holders)),
                        next.id()))
                .get();
        SegmentDescriptor confirmed = await(v -> v.segment(first.id())
                .filter(s -> s.unconfirmed().isEmpty() && s.replicas().size() == 3));
        assertThat(confirmed.replicas()).extracting(Replica::bookie).contains(behind.bookie());
    }

    @Test
    void whatCannotWorkIsRefusedInOneLine() throws Exception {
        startBookies(1);
        assertThatThrownBy(() -> BookieNode.start(
                        config(1, Map.of("bookie.listener", "127.0.0.1:0")), new SimpleMeterRegistry(), faults))
                .isInstanceOfSatisfying(
                        StartupException.class,
                        e -> assertThat(e.reason()).isEqualTo(StartupException.Reason.DIRECTORY_LOCKED));
        assertThatThrownBy(() -> BookieNode.start(
                        config(
                                9,
                                Map.of(
                                        "bookie.listener",
                                        "127.0.0.1:" + bookies.get(1).port())),
                        new SimpleMeterRegistry(),
                        faults))
                .isInstanceOfSatisfying(
                        StartupException.class,
                        e -> assertThat(e.reason()).isEqualTo(StartupException.Reason.PORT_TAKEN));
        bookies.remove(1).close();
        assertThatThrownBy(() -> BookieNode.start(
                        config(
                                2,
                                Map.of(
                                        "bookie.data.dirs",
                                        directory.resolve("bookie-1").toString())),
                        new SimpleMeterRegistry(),
                        faults))
                .isInstanceOfSatisfying(
                        StartupException.class,
                        e -> assertThat(e.reason()).isEqualTo(StartupException.Reason.DIRECTORY_FOREIGN));
        assertThatThrownBy(() -> BookieNode.start(
                        config(3, Map.of("metadata.servers", "1@127.0.0.1:1", "metadata.wait.ms", "500")),
                        new SimpleMeterRegistry(),
                        faults))
                .isInstanceOfSatisfying(
                        StartupException.class,
                        e -> assertThat(e.reason()).isEqualTo(StartupException.Reason.NO_QUORUM))
                .hasMessageContaining("1@127.0.0.1:1");
    }

    private void startBookies(int count) {
        for (int id = 1; id <= count; id++) {
            startBookie(id);
        }
    }

    private void startBookie(int id) {
        bookies.put(id, BookieNode.start(config(id, Map.of()), new SimpleMeterRegistry(), faults));
    }

    private BookieConfig config(int id, Map<String, String> changed) {
        Map<String, String> config = new HashMap<>(Map.of(
                "bookie.id",
                Integer.toString(id),
                "bookie.data.dirs",
                directory.resolve("bookie-" + id).toString(),
                "bookie.listener",
                "127.0.0.1:0",
                "metadata.servers",
                "1@127.0.0.1:" + metadataPort,
                "tiering.store",
                "local",
                "tiering.local.dir",
                directory.resolve("objects").toString(),
                "bookie.journal.file.bytes",
                Integer.toString(4 << 20),
                "bookie.entry.bytes.max",
                Integer.toString(1 << 20),
                "bookie.disk.reserve.bytes",
                "1",
                "bookie.disk.relieve.bytes",
                "2"));
        config.putAll(changed);
        return BookieConfig.of(BookieConfig.SCHEMA.check("test", config, Map.of(), Map.of()));
    }

    private PartitionId topic(Map<String, String> configs) throws Exception {
        metadata.registerBroker(new BrokerInfo(
                        BROKER,
                        7,
                        "",
                        List.of(new BrokerInfo.Endpoint("PLAINTEXT", "PLAINTEXT", "localhost", 9)),
                        BrokerInfo.State.LIVE))
                .get();
        int replicas = Math.min(3, bookies.size());
        Topic topic = metadata.createTopic("t", 1, replicas, configs).get();
        return new PartitionId(topic.id(), 0);
    }

    private SegmentDescriptor rollTo(PartitionId partition, Optional<SegmentDescriptor> open, long start, int holders)
            throws Exception {
        int epoch = metadata.view().partition(partition).orElseThrow().epoch();
        SegmentDescriptor next =
                metadata.allocateSegment(partition, epoch, start, Set.of()).get();
        Optional<MetadataClient.Seal> seal = open.map(s -> new MetadataClient.Seal(
                s.id(),
                start,
                1_000,
                System.currentTimeMillis(),
                new TreeSet<>(s.replicas().stream()
                        .map(Replica::bookie)
                        .limit(holders)
                        .toList())));
        metadata.roll(new MetadataClient.Roll(partition, epoch, seal, next.id()))
                .get();
        return metadata.view().segment(next.id()).orElseThrow();
    }

    private void append(SegmentDescriptor segment, long from, long to) throws Exception {
        List<AppendStream> streams = new ArrayList<>();
        List<CompletableFuture<Void>> durable = new ArrayList<>();
        for (Replica replica : segment.replicas()) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            durable.add(done);
            AppendStream stream = client.openAppend(
                    address(replica.bookie().value()),
                    segment.partition(),
                    segment.id(),
                    segment.epoch(),
                    segment.startOffset(),
                    replica.incarnation(),
                    new AppendListener() {
                        @Override
                        public void onDurable(long durableEnd) {
                            if (durableEnd >= to) {
                                done.complete(null);
                            }
                        }

                        @Override
                        public void onFailed(BookieStatus status, long replicaEnd) {
                            done.completeExceptionally(new IOException(status + " " + replicaEnd));
                        }
                    });
            streams.add(stream);
        }
        for (long offset = from; offset < to; offset++) {
            byte[] payload = batch(offset);
            int crc = EntryFormat.checksum(offset, offset, ByteBuffer.wrap(payload));
            for (AppendStream stream : streams) {
                stream.append(offset, offset, crc, Unpooled.wrappedBuffer(payload), from);
            }
        }
        for (CompletableFuture<Void> done : durable) {
            done.get(30, TimeUnit.SECONDS);
        }
        streams.forEach(AppendStream::close);
    }

    /** A record batch as far as anybody below the broker looks at one. */
    private static byte[] batch(long offset) {
        ByteBuffer batch = ByteBuffer.allocate(161);
        batch.putLong(0, offset)
                .putInt(8, 149)
                .put(16, (byte) 2)
                .putLong(27, 1_000)
                .putLong(35, 1_000)
                .putInt(57, 1);
        return batch.array();
    }

    private BookieAddress address(int id) {
        BookieInfo info = metadata.view().bookie(new BookieId(id)).orElseThrow();
        return new BookieAddress(info.id(), info.host(), info.port());
    }

    private void awaitTrue(Predicate<MetadataView> reached) throws Exception {
        await(view -> reached.test(view) ? Optional.of(view) : Optional.empty());
    }

    private <T> T await(java.util.function.Function<MetadataView, Optional<T>> look) throws Exception {
        CompletableFuture<T> found = new CompletableFuture<>();
        MetadataListener listener = (before, after, delta) -> look.apply(after).ifPresent(found::complete);
        metadata.subscribe(listener);
        try {
            return found.get(WAIT_S, TimeUnit.SECONDS);
        } catch (java.util.concurrent.TimeoutException late) {
            throw new AssertionError("not reached: tasks " + metadata.view().tasks() + " segments "
                    + metadata.view().segmentsOn(new BookieId(1)));
        } finally {
            metadata.unsubscribe(listener);
        }
    }
}
