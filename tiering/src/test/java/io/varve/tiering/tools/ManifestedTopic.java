package io.varve.tiering.tools;

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
import io.varve.tiering.offload.OffloadWorker;
import io.varve.tiering.offload.UploadSettings;
import io.varve.tiering.testing.MemoryObjectStore;
import io.varve.tiering.testing.TestSegments;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** A topic whose one partition has eight segments in four objects: six of the segments in a manifest, two in the chain. */
final class ManifestedTopic {

    static final Topic TOPIC = new Topic(TestSegments.PARTITION.topic(), "orders", 8, 3, 2, new TreeMap<>());

    final MemoryObjectStore memory = new MemoryObjectStore();
    final ManifestWorker worker = new ManifestWorker(memory, TestSegments.CLUSTER, new SimpleMeterRegistry());
    final List<SegmentDescriptor> segments = new ArrayList<>();
    PartitionState state;

    ManifestedTopic() throws Exception {
        try (OffloadWorker offloader = new OffloadWorker(
                memory,
                TestSegments.CLUSTER,
                new UploadSettings(1, 4, 1 << 20, 2, 512, true, 0),
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

    /** The key of the object that a segment is in. */
    String key(int segment) {
        return segments.get(segment).object().orElseThrow().key();
    }

    PartitionState state(ManifestRef manifest, long logStartOffset, int chainFrom) {
        SegmentChain chain = SegmentChain.EMPTY.withManifest(Optional.of(manifest));
        for (SegmentDescriptor segment : segments.subList(chainFrom, segments.size())) {
            chain = chain.append(segment);
        }
        return new PartitionState(TestSegments.PARTITION, 1, 0, logStartOffset, chain);
    }

    MetadataView view() {
        PartitionState now = state;
        return (MetadataView) Proxy.newProxyInstance(
                ManifestedTopic.class.getClassLoader(),
                new Class<?>[] {MetadataView.class},
                (proxy, method, args) -> switch (method.getName()) {
                    case "topics" -> List.of(TOPIC);
                    case "condemned" -> List.of();
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
