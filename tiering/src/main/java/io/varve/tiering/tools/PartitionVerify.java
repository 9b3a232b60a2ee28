package io.varve.tiering.tools;

import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.compress.Lz4FrameCompression;
import io.varve.tiering.core.ObjectFooter;
import io.varve.tiering.core.ObjectTail;
import io.varve.tiering.manifest.ManifestWalk;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.read.ObjectReads;
import io.varve.tiering.read.ObjectWalk;
import java.io.PrintStream;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

/** Walks one partition from its start: its manifest, its chain, and the object of each segment. Used once. */
final class PartitionVerify {

    private static final int RANGE_BYTES = 8 * 1024 * 1024;

    /** How often a manifest may be replaced while it is walked. */
    private static final int REPLACED_MAX = 1_000;

    private final ObjectStore store;
    private final ManifestWalk manifests;
    private final Supplier<MetadataView> views;
    private final String topic;
    private final boolean deep;
    private final PrintStream out;
    private final LongConsumer progress;
    private PartitionId partition;
    private long next = -1;
    private ObjectRef seen;
    private long segments;
    private long inManifests;
    private long offloaded;
    private long objects;
    private long bytes;
    private long problems;

    /** @param progress is told how many segments are done */
    PartitionVerify(
            ObjectStore store,
            ManifestWalk manifests,
            Supplier<MetadataView> views,
            String topic,
            boolean deep,
            PrintStream out,
            LongConsumer progress) {
        this.store = store;
        this.manifests = manifests;
        this.views = views;
        this.topic = topic;
        this.deep = deep;
        this.out = out;
        this.progress = progress;
    }

    TopicVerify.Result verify(PartitionState state) {
        partition = state.id();
        PartitionState now = state;
        if (state.chain().manifest().isPresent()) {
            now = walkManifest(state);
        }
        for (SegmentDescriptor segment : now.chain().segments()) {
            if (next < 0 || segment.endOffset() < 0 || segment.endOffset() > next) {
                look(segment);
            }
        }
        return new TopicVerify.Result(segments, inManifests, offloaded, objects, bytes, problems);
    }

    /** Walks the manifest, and goes on in the one that replaced it where it was; answers the state whose chain follows. */
    private PartitionState walkManifest(PartitionState from) {
        PartitionState state = from;
        for (int replaced = 0; replaced <= REPLACED_MAX; replaced++) {
            ManifestRef manifest = state.chain().manifest().orElse(null);
            if (manifest == null) {
                return state;
            }
            try {
                manifests.segments(manifest, partition, Math.max(next, state.logStartOffset()), segment -> {
                    inManifests++;
                    look(segment);
                });
                return state;
            } catch (RemoteReadException trouble) {
                Optional<PartitionState> fresh = views.get().partition(partition);
                if (fresh.isEmpty()) {
                    return state;
                }
                if (fresh.get().chain().manifest().equals(state.chain().manifest())) {
                    problem(trouble.kind() + " manifest " + trouble.getMessage());
                    next = manifest.endOffset();
                    return state;
                }
                state = fresh.get();
            }
        }
        problem("its manifest is replaced faster than it can be read");
        return state;
    }

    private void look(SegmentDescriptor segment) {
        if (next >= 0 && segment.startOffset() != next && segment.startOffset() > logStart()) {
            problem("segment " + segment.id() + " starts at " + segment.startOffset() + ", the one before ends at "
                    + next + " (I-8)");
        }
        next = segment.endOffset();
        ObjectRef object = segment.object().orElse(null);
        if (object != null && !object.equals(seen)) {
            verify(object);
            seen = object;
        }
        if (object != null
                && (segment.startOffset() < object.startOffset() || segment.endOffset() > object.endOffset())) {
            problem("segment " + segment.id() + " isn't wholly in its object " + object.key());
        }
        if (object == null && segment.replicas().isEmpty()) {
            problem("segment " + segment.id() + " is held by nobody");
        }
        segments++;
        offloaded += object == null ? 0 : 1;
        progress.accept(segments);
    }

    private void verify(ObjectRef object) {
        try {
            ObjectTail tail = deep
                    ? new ObjectWalk(store, Lz4FrameCompression.INSTANCE, RANGE_BYTES)
                            .verify(object.key(), object.length(), block -> {})
                    : ObjectReads.tail(store, object.key(), object.length()).join();
            if (isMeant(object, tail)) {
                objects++;
                bytes += object.length();
            } else {
                problem(object.key() + " is another object than the metadata speaks of");
            }
        } catch (RemoteReadException | CompletionException e) {
            if (object.endOffset() > logStart()) {
                RemoteReadException told = ObjectReads.failed(object.key(), e);
                problem(told.kind() + " " + told.getMessage());
            }
        }
    }

    /** Where the log starts by now; beyond everything if its topic is gone. */
    private long logStart() {
        return views.get()
                .partition(partition)
                .map(PartitionState::logStartOffset)
                .orElse(Long.MAX_VALUE);
    }

    private boolean isMeant(ObjectRef object, ObjectTail tail) {
        ObjectFooter footer = tail.footer();
        return tail.crc() == object.crc32c()
                && footer.partition().equals(partition)
                && footer.attemptId() == object.attemptId()
                && footer.startOffset() == object.startOffset()
                && footer.endOffset() == object.endOffset()
                && footer.maxTimestampMs() == object.maxTimestampMs();
    }

    private void problem(String what) {
        problems++;
        out.printf("%s-%d: %s%n", topic, partition.index(), what);
    }
}
