package io.varve.metadata.model;

import io.varve.base.Invariant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import org.pcollections.TreePMap;

/**
 * A partition's ordered segments as far as Raft describes them: contiguous, disjoint, only the last one open (I-8). What came before
 * and was moved into the bucket is named by {@link #manifest()}. Immutable; every change shares almost all of its structure with the
 * chain before it.
 */
public final class SegmentChain {

    /** No segments. */
    public static final SegmentChain EMPTY = new SegmentChain(TreePMap.empty(), Optional.empty());

    /** How many segments one rewrite may replace: a bound on one command. */
    public static final int STRETCH_MAX = 1_000;

    private final TreePMap<Long, SegmentDescriptor> byStart;
    private final Optional<ManifestRef> manifest;

    private SegmentChain(TreePMap<Long, SegmentDescriptor> byStart, Optional<ManifestRef> manifest) {
        this.byStart = byStart;
        this.manifest = manifest;
    }

    /** The segments in order. A view: never changes. */
    public Collection<SegmentDescriptor> segments() {
        return byStart.values();
    }

    /** How many segments Raft describes. */
    public int size() {
        return byStart.size();
    }

    /** The stretch before the first of {@link #segments()} that lives in the bucket's manifests. */
    public Optional<ManifestRef> manifest() {
        return manifest;
    }

    /** The segment that may still grow. */
    public Optional<SegmentDescriptor> open() {
        return last().filter(s -> s.state() == SegmentDescriptor.State.OPEN);
    }

    /** The last segment, open or sealed. */
    public Optional<SegmentDescriptor> last() {
        return byStart.isEmpty()
                ? Optional.empty()
                : Optional.of(byStart.lastEntry().getValue());
    }

    /** The first segment that Raft describes. */
    public Optional<SegmentDescriptor> first() {
        return byStart.isEmpty()
                ? Optional.empty()
                : Optional.of(byStart.firstEntry().getValue());
    }

    /**
     * The segment that covers {@code offset}. Absent both for offsets beyond the last sealed end of a chain without an open segment and
     * for those in the manifest's stretch: compare with {@link #manifest()}.
     */
    public Optional<SegmentDescriptor> covering(long offset) {
        Map.Entry<Long, SegmentDescriptor> floor = byStart.floorEntry(offset);
        return floor == null ? Optional.empty() : Optional.of(floor.getValue()).filter(s -> s.covers(offset));
    }

    /** The segment that starts at {@code startOffset}, or null. */
    public SegmentDescriptor at(long startOffset) {
        return byStart.get(startOffset);
    }

    /** The segments from the one that covers {@code offset}, or else the first after it, on. */
    public NavigableMap<Long, SegmentDescriptor> from(long offset) {
        Map.Entry<Long, SegmentDescriptor> floor = byStart.floorEntry(offset);
        return byStart.tailMap(floor != null && floor.getValue().covers(offset) ? floor.getKey() : offset, true);
    }

    /** Whether one of {@link #segments()} is in that object. Objects of topics that were not compacted at first can hold several of which some went. */
    public boolean names(ObjectRef object) {
        for (SegmentDescriptor segment :
                byStart.tailMap(object.startOffset(), true).values()) {
            if (segment.startOffset() >= object.endOffset()) {
                return false;
            }
            if (segment.object().filter(o -> o.key().equals(object.key())).isPresent()) {
                return true;
            }
        }
        return false;
    }

    /**
     * The chain with {@code opened} at its end.
     *
     * @throws io.varve.base.InvariantViolation if it doesn't start where the chain ends (I-8)
     */
    public SegmentChain append(SegmentDescriptor opened) {
        last().ifPresentOrElse(
                        l -> Invariant.check(
                                l.endOffset() == opened.startOffset(),
                                "I-8 gap or overlap",
                                l.endOffset(),
                                opened.startOffset()),
                        () -> manifest.ifPresent(m -> Invariant.check(
                                m.endOffset() == opened.startOffset(), "I-8 gap after manifest", m.endOffset())));
        Invariant.check(!byStart.containsKey(opened.startOffset()), "I-8 an empty segment leaves the chain first");
        return new SegmentChain(byStart.plus(opened.startOffset(), opened), manifest);
    }

    /**
     * The chain with the segment of the same start replaced.
     *
     * @throws io.varve.base.InvariantViolation if it holds no such segment
     */
    public SegmentChain replace(SegmentDescriptor changed) {
        SegmentDescriptor old = byStart.get(changed.startOffset());
        Invariant.check(
                old != null && old.id().equals(changed.id()),
                "replaces a segment of the chain",
                changed.id().value());
        Invariant.check(
                old.endOffset() == changed.endOffset() || old.endOffset() == SegmentDescriptor.UNSEALED,
                "a seal is final",
                old.endOffset(),
                changed.endOffset());
        return new SegmentChain(byStart.plus(changed.startOffset(), changed), manifest);
    }

    /**
     * The segments that lie between two offsets, in order.
     *
     * @return empty unless both are bounds of segments, and all between them are sealed
     */
    public List<SegmentDescriptor> stretch(long startOffset, long endOffset) {
        List<SegmentDescriptor> found = new ArrayList<>();
        long at = startOffset;
        while (at < endOffset) {
            SegmentDescriptor next = byStart.get(at);
            if (next == null || next.state() != SegmentDescriptor.State.SEALED || next.isEmpty()) {
                return List.of();
            }
            found.add(next);
            at = next.endOffset();
        }
        return at == endOffset ? List.copyOf(found) : List.of();
    }

    /**
     * The chain with one sealed segment in the place of all those between its start and its end.
     *
     * @throws io.varve.base.InvariantViolation if one of them reaches beyond it, or isn't sealed (I-8)
     */
    public SegmentChain replaceStretch(SegmentDescriptor rewritten) {
        List<SegmentDescriptor> inputs = stretch(rewritten.startOffset(), rewritten.endOffset());
        Invariant.check(
                !inputs.isEmpty() && rewritten.state() == SegmentDescriptor.State.SEALED,
                "I-8 a rewrite ends where what it replaces does",
                rewritten.startOffset(),
                rewritten.endOffset());
        TreePMap<Long, SegmentDescriptor> rest = byStart;
        for (SegmentDescriptor input : inputs) {
            rest = rest.minus(input.startOffset());
        }
        return new SegmentChain(rest.plus(rewritten.startOffset(), rewritten), manifest);
    }

    /** The chain without its first segment, as retention takes it away. */
    public SegmentChain withoutFirst() {
        return byStart.isEmpty() ? this : new SegmentChain(byStart.minus(byStart.firstKey()), manifest);
    }

    /**
     * The chain without its last segment, which was sealed empty: what follows starts where it did.
     *
     * @throws io.varve.base.InvariantViolation if the last segment holds something, or may yet
     */
    public SegmentChain withoutEmptyLast() {
        Invariant.check(last().filter(SegmentDescriptor::isEmpty).isPresent(), "the last segment is empty");
        return new SegmentChain(byStart.minus(byStart.lastKey()), manifest);
    }

    /**
     * The chain with everything below the manifest's end described by it instead of by segments here.
     *
     * @throws io.varve.base.InvariantViolation if the end lies within a segment (I-8)
     */
    public SegmentChain withManifest(Optional<ManifestRef> ref) {
        if (ref.equals(manifest)) {
            return this;
        }
        TreePMap<Long, SegmentDescriptor> rest = byStart;
        if (ref.isPresent()) {
            while (!rest.isEmpty() && rest.firstKey() < ref.get().endOffset()) {
                SegmentDescriptor moved = rest.get(rest.firstKey());
                Invariant.check(
                        moved.state() == SegmentDescriptor.State.SEALED
                                && moved.endOffset() <= ref.get().endOffset(),
                        "I-8 a manifest ends where a segment does",
                        moved.endOffset());
                rest = rest.minus(rest.firstKey());
            }
        }
        return new SegmentChain(rest, ref);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SegmentChain that && byStart.equals(that.byStart) && manifest.equals(that.manifest);
    }

    @Override
    public int hashCode() {
        return 31 * byStart.hashCode() + manifest.hashCode();
    }

    @Override
    public String toString() {
        return "SegmentChain" + manifest.map(m -> "[.." + m.endOffset() + "]").orElse("") + byStart.values();
    }
}
