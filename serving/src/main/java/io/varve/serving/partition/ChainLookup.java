package io.varve.serving.partition;

import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentChain;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.serving.log.LogError;
import io.varve.tiering.api.ChainManifests;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds segments of a chain wherever they are described: in the metadata, at once, or in the partition's manifest, for which the bucket may have to be asked. Always by the newest
 * pointer: a look-up that fails by one that was replaced meanwhile is begun anew. Trouble is an error, never "there is none" (I-7). Used on the partition's loop; answers there.
 */
final class ChainLookup {

    private static final Logger LOG = LoggerFactory.getLogger(ChainLookup.class);

    /** Readers in order stay in a segment for many reads: so many of them need no leaf of a manifest in memory meanwhile. */
    private static final int RECENT_MAX = 16;

    private final ChainManifests manifests;
    private final PartitionLoop loop;
    private final Supplier<PartitionState> newest;
    private final ArrayDeque<SegmentDescriptor> recent = new ArrayDeque<>();

    /** @param newest the newest state of the partition that is known */
    ChainLookup(ChainManifests manifests, PartitionLoop loop, Supplier<PartitionState> newest) {
        this.manifests = manifests;
        this.loop = loop;
        this.newest = newest;
    }

    /**
     * The segment that covers an offset, or else the first one after it.
     *
     * @param answer gets nothing if the chain ends before
     */
    void from(long offset, BiConsumer<Optional<SegmentDescriptor>, LogError> answer) {
        ManifestRef manifest = manifestBeyond(offset);
        if (manifest == null) {
            Optional<SegmentDescriptor> covering = chain().covering(offset);
            answer.accept(
                    covering.or(() -> chain().from(offset).values().stream().findFirst()), LogError.NONE);
            return;
        }
        long at = Math.max(offset, manifest.startOffset());
        for (SegmentDescriptor segment : recent) {
            if (segment.covers(at)) {
                answer.accept(Optional.of(segment), LogError.NONE);
                return;
            }
        }
        ask(
                manifest,
                asked -> manifests.segmentAt(asked, newest.get().id(), at),
                () -> from(offset, answer),
                (found, error) -> {
                    // A manifest has a segment at each of its offsets: it was checked to.
                    boolean isAbsent = error == LogError.NONE && found.isEmpty();
                    if (error == LogError.NONE) {
                        found.ifPresent(this::remember);
                    }
                    answer.accept(
                            error == LogError.NONE ? found : Optional.empty(),
                            isAbsent ? LogError.STORAGE_UNAVAILABLE : error);
                });
    }

    private void remember(SegmentDescriptor segment) {
        if (recent.size() == RECENT_MAX) {
            recent.removeLast();
        }
        recent.addFirst(segment);
    }

    /** The first segment that goes beyond an offset and may have a record at or after a time; nothing if none does. */
    void atTimestamp(long timestampMs, long offset, BiConsumer<Optional<SegmentDescriptor>, LogError> answer) {
        ManifestRef manifest = manifestBeyond(offset);
        if (manifest == null) {
            answer.accept(
                    chain().from(offset).values().stream()
                            .filter(segment -> mayHave(segment, timestampMs))
                            .findFirst(),
                    LogError.NONE);
            return;
        }
        ask(
                manifest,
                asked -> manifests.segmentAtTimestamp(asked, newest.get().id(), timestampMs, offset),
                () -> atTimestamp(timestampMs, offset, answer),
                (found, error) -> {
                    if (error == LogError.NONE && found.isEmpty()) {
                        atTimestamp(timestampMs, Math.max(offset, manifest.endOffset()), answer);
                    } else {
                        answer.accept(error == LogError.NONE ? found : Optional.empty(), error);
                    }
                });
    }

    private static boolean mayHave(SegmentDescriptor segment, long timestampMs) {
        return segment.state() != SegmentDescriptor.State.SEALED
                || !segment.isEmpty() && (segment.maxTimestampMs() < 0 || segment.maxTimestampMs() >= timestampMs);
    }

    /** No record of a sealed segment that goes beyond an offset has a larger time; {@code -1} if they have none. */
    void timestampMsMost(long offset, BiConsumer<Long, LogError> answer) {
        ManifestRef manifest = manifestBeyond(offset);
        long ofChain = -1;
        for (SegmentDescriptor segment : chain().from(offset).values()) {
            ofChain = Math.max(ofChain, segment.maxTimestampMs());
        }
        if (manifest == null || manifest.maxTimestampMs() <= ofChain) {
            answer.accept(ofChain, LogError.NONE);
            return;
        }
        long most = ofChain;
        ask(
                manifest,
                asked -> manifests.timestampMsMost(asked, newest.get().id(), offset),
                () -> timestampMsMost(offset, answer),
                (found, error) -> answer.accept(error == LogError.NONE ? Math.max(most, found) : most, error));
    }

    private SegmentChain chain() {
        return newest.get().chain();
    }

    /** The manifest, if it describes something at or after an offset. */
    private ManifestRef manifestBeyond(long offset) {
        return chain().manifest()
                .filter(manifest -> offset < manifest.endOffset())
                .orElse(null);
    }

    private <T> void ask(
            ManifestRef manifest,
            Function<ManifestRef, CompletableFuture<T>> question,
            Runnable again,
            BiConsumer<T, LogError> answer) {
        loop.on(question.apply(manifest), (found, failure) -> {
            if (failure == null) {
                answer.accept(found, LogError.NONE);
            } else if (!chain().manifest().equals(Optional.of(manifest))) {
                again.run();
            } else {
                // Told as an alarm, once in a while, by those who read manifests.
                LOG.debug(
                        "event=manifest_unreadable partition={} key={} reason=\"{}\"",
                        newest.get().id(),
                        manifest.key(),
                        failure.getMessage());
                answer.accept(null, LogError.STORAGE_UNAVAILABLE);
            }
        });
    }
}
