package io.varve.tiering.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentChain;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.metadata.testing.StepClock;
import io.varve.tiering.api.Offloader.OffloadAttempt;
import io.varve.tiering.api.SealedSegmentSource;
import io.varve.tiering.manifest.ManifestWorker;
import io.varve.tiering.object.WrappedObjectStore;
import io.varve.tiering.offload.OffloadWorker;
import io.varve.tiering.offload.UploadSettings;
import io.varve.tiering.testing.MemoryObjectStore;
import io.varve.tiering.testing.TestSegments;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A topic is walked through its manifest and its chain, and what doesn't agree is said; what retention takes meanwhile is not. */
class TopicVerifyTest {

    private static final Topic TOPIC = new Topic(TestSegments.PARTITION.topic(), "orders", 8, 3, 2, new TreeMap<>());

    private final MemoryObjectStore memory = new MemoryObjectStore();
    private Runnable beforeNextGet = () -> {};
    private final WrappedObjectStore store = new WrappedObjectStore(memory) {
        @Override
        protected <T> CompletableFuture<T> around(
                Verb verb, String key, long bytes, Supplier<CompletableFuture<T>> call) {
            if (verb == Verb.GET) {
                Runnable first = beforeNextGet;
                beforeNextGet = () -> {};
                first.run();
            }
            return call.get();
        }
    };
    private final ManifestWorker worker = new ManifestWorker(memory, TestSegments.CLUSTER);
    private final List<SegmentDescriptor> segments = new ArrayList<>();
    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private final List<Long> progress = new ArrayList<>();
    private PartitionState state;

    /** Eight segments in four objects: six of the segments in a manifest, two in the chain. */
    @BeforeEach
    void write() throws Exception {
        try (OffloadWorker offloader = new OffloadWorker(
                memory,
                TestSegments.CLUSTER,
                new UploadSettings(1, 4, 1 << 20, 2, 4 << 20, 512, true, 0),
                new StepClock(0),
                new SimpleMeterRegistry(),
                (where, fault) -> {
                    throw new AssertionError(where, fault);
                })) {
            List<TestSegments.Segment> chain = TestSegments.chain(8, 5, 200, true);
            for (int i = 0; i < chain.size(); i += 2) {
                List<SealedSegmentSource> sources =
                        List.of(chain.get(i).source(), chain.get(i + 1).source());
                ObjectRef object = offloader
                        .offload(new OffloadAttempt(1 + i, "orders", TestSegments.PARTITION), sources)
                        .get(20, TimeUnit.SECONDS);
                segments.add(in(chain.get(i).descriptor(), object));
                segments.add(in(chain.get(i + 1).descriptor(), object));
            }
        }
        ManifestRef manifest = worker.extend(TestSegments.PARTITION, Optional.empty(), 20, segments.subList(0, 6))
                .manifest()
                .orElseThrow();
        state = state(manifest, 0, 6);
    }

    @Test
    void whatAgreesIsCountedAndNothingIsSaid() {
        for (boolean deep : new boolean[] {false, true}) {
            TopicVerify.Result result = verify(deep);
            assertThat(text()).isEmpty();
            assertThat(result.segments()).isEqualTo(8);
            assertThat(result.inManifests()).isEqualTo(6);
            assertThat(result.offloaded()).isEqualTo(8);
            assertThat(result.problems()).isZero();
        }
        assertThat(progress).endsWith(8L);
    }

    @Test
    void anObjectThatIsGoneIsAProblemUnlessTheLogStartsBehindIt() {
        memory.delete(key(0)).join();
        assertThat(verify(false).problems()).isOne();
        assertThat(text()).contains("orders-7: MISSING " + key(0));
        printed.reset();
        state = state(state.chain().manifest().orElseThrow(), segments.get(2).startOffset(), 6);
        assertThat(verify(false).problems()).isZero();
        assertThat(text()).isEmpty();
    }

    @Test
    void damageInsideAnObjectIsFoundDeep() {
        byte[] damaged = memory.objects().get(key(2)).clone();
        damaged[damaged.length / 3] ^= 1;
        memory.overwrite(key(2), damaged);
        assertThat(verify(false).problems()).isZero();
        assertThat(verify(true).problems()).isOne();
        assertThat(text()).contains("CORRUPT " + key(2));
    }

    @Test
    void aManifestThatIsGoneIsAProblemAndTheChainIsStillLookedAt() {
        memory.delete(state.chain().manifest().orElseThrow().key()).join();
        TopicVerify.Result result = verify(false);
        assertThat(result.problems()).isOne();
        assertThat(result.segments()).isEqualTo(2);
        assertThat(text()).contains("orders-7: MISSING manifest");
    }

    @Test
    void aManifestThatIsReplacedMeanwhileIsGoneOnWith() {
        ManifestRef before = state.chain().manifest().orElseThrow();
        beforeNextGet = () -> {
            ManifestRef after = worker.extend(TestSegments.PARTITION, Optional.of(before), 21, segments.subList(6, 8))
                    .manifest()
                    .orElseThrow();
            memory.delete(before.key()).join();
            state = state(after, 0, 8);
        };
        TopicVerify.Result result = verify(false);
        assertThat(text()).isEmpty();
        assertThat(result.segments()).isEqualTo(8);
        assertThat(result.inManifests()).isEqualTo(8);
    }

    private TopicVerify.Result verify(boolean deep) {
        TopicVerify verify = new TopicVerify(
                store,
                TestSegments.CLUSTER,
                new PrintStream(printed, true, StandardCharsets.UTF_8),
                deep,
                (done, of) -> progress.add(done));
        return verify.verify(this::view, TOPIC);
    }

    private String text() {
        return printed.toString(StandardCharsets.UTF_8);
    }

    private String key(int segment) {
        return segments.get(segment).object().orElseThrow().key();
    }

    private PartitionState state(ManifestRef manifest, long logStartOffset, int chainFrom) {
        SegmentChain chain = SegmentChain.EMPTY.withManifest(Optional.of(manifest));
        for (SegmentDescriptor segment : segments.subList(chainFrom, segments.size())) {
            chain = chain.append(segment);
        }
        return new PartitionState(TestSegments.PARTITION, 1, 0, logStartOffset, chain);
    }

    private MetadataView view() {
        PartitionState now = state;
        return (MetadataView) Proxy.newProxyInstance(
                TopicVerifyTest.class.getClassLoader(),
                new Class<?>[] {MetadataView.class},
                (proxy, method, args) -> switch (method.getName()) {
                    case "partitions" -> List.of(now);
                    case "partition" -> Optional.of(now);
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    private static SegmentDescriptor in(SegmentDescriptor segment, ObjectRef object) {
        return new SegmentDescriptor(
                segment.id(),
                segment.partition(),
                segment.epoch(),
                segment.state(),
                segment.startOffset(),
                segment.endOffset(),
                segment.acks(),
                List.of(),
                List.of(),
                segment.bytes(),
                segment.maxTimestampMs(),
                segment.createdMs(),
                segment.sealedMs(),
                Optional.of(object));
    }
}
