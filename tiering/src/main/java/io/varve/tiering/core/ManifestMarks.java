package io.varve.tiering.core;

import io.varve.metadata.model.ManifestRef.Mark;
import io.varve.metadata.model.SegmentDescriptor;
import java.util.ArrayList;
import java.util.List;

/**
 * Chooses the marks of a manifest's pointer: after 1, 2, 4, … objects of its first leaf, then after 1, 2, 4, … leaves, and its end. So what has expired goes in steps that
 * grow with it, and ten million segments need no more than thirty marks.
 */
public final class ManifestMarks {

    private final List<Mark> marks = new ArrayList<>();
    private long bytes;
    private long ageStampMs = Long.MIN_VALUE;

    private ManifestMarks() {}

    /**
     * The marks.
     *
     * @param first the root's first leaf
     * @param startOffset where the manifest's stretch starts, in the first leaf
     */
    public static List<Mark> of(ManifestRoot root, ManifestLeaf first, long startOffset) {
        ManifestMarks marks = new ManifestMarks();
        marks.addObjects(first, startOffset);
        marks.addLeaves(root.leaves());
        return List.copyOf(marks.marks);
    }

    private void addObjects(ManifestLeaf first, long startOffset) {
        int objects = 0;
        for (SegmentDescriptor segment : first.segments()) {
            if (segment.startOffset() >= startOffset) {
                bytes += Math.max(0, segment.bytes());
                ageStampMs = Math.max(ageStampMs, segment.ageStampMs());
                boolean isCut =
                        segment.endOffset() == segment.object().orElseThrow().endOffset();
                objects += isCut ? 1 : 0;
                if (isCut && isPowerOfTwo(objects) && segment.endOffset() < first.endOffset()) {
                    add(segment.endOffset());
                }
            }
        }
    }

    private void addLeaves(List<ManifestRoot.Leaf> leaves) {
        for (int i = 0; i < leaves.size(); i++) {
            if (i > 0) {
                bytes += leaves.get(i).bytes();
                ageStampMs = Math.max(ageStampMs, leaves.get(i).ageStampMs());
            }
            if (isPowerOfTwo(i + 1) || i == leaves.size() - 1) {
                add(leaves.get(i).endOffset());
            }
        }
    }

    private void add(long offset) {
        marks.add(new Mark(offset, bytes, ageStampMs));
    }

    private static boolean isPowerOfTwo(int n) {
        return Integer.bitCount(n) == 1;
    }
}
