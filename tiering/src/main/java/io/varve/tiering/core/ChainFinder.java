package io.varve.tiering.core;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Finds the chain of one partition among all the objects that a bucket holds of it, when there is no metadata to ask. Attempts that came to
 * nothing may have left whole objects that overlap with the committed ones; by what they are made of, all of them are right: each holds the
 * entries of sealed segments, and a sealed segment never changes.
 */
public final class ChainFinder {

    private static final Comparator<Candidate> FURTHEST =
            Comparator.comparingLong(Candidate::endOffset).thenComparingLong(Candidate::attemptId);

    private ChainFinder() {}

    /**
     * An object of the partition.
     *
     * @param endOffset exclusive
     * @param attemptId of two that hold the same, the later attempt's is taken
     */
    public record Candidate(String key, long startOffset, long endOffset, long attemptId) {}

    /**
     * A stretch of the chain.
     *
     * @param object that holds it, and perhaps more
     * @param startOffset where the object is read from
     * @param endOffset exclusive
     */
    public record Piece(Candidate object, long startOffset, long endOffset) {}

    /** @param endOffset exclusive */
    public record Gap(long startOffset, long endOffset) {}

    /**
     * What was found.
     *
     * @param pieces in order, disjoint
     * @param gaps offsets that no object holds, between the first and the last that one does
     * @param unused objects whose offsets others hold
     */
    public record Found(List<Piece> pieces, List<Gap> gaps, List<Candidate> unused) {}

    /** Covers all offsets that any object holds, at each with the object that reaches furthest from there. */
    public static Found find(List<Candidate> candidates) {
        List<Candidate> rest = new ArrayList<>(candidates);
        rest.sort(Comparator.comparingLong(Candidate::startOffset));
        List<Piece> pieces = new ArrayList<>();
        List<Gap> gaps = new ArrayList<>();
        List<Candidate> unused = new ArrayList<>();
        long next = rest.isEmpty() ? 0 : rest.get(0).startOffset();
        int at = 0;
        while (at < rest.size()) {
            if (rest.get(at).startOffset() > next) {
                gaps.add(new Gap(next, rest.get(at).startOffset()));
                next = rest.get(at).startOffset();
            }
            Candidate furthest = null;
            while (at < rest.size() && rest.get(at).startOffset() <= next) {
                Candidate candidate = rest.get(at++);
                if (furthest == null || FURTHEST.compare(candidate, furthest) > 0) {
                    unused.addAll(furthest == null ? List.of() : List.of(furthest));
                    furthest = candidate;
                } else {
                    unused.add(candidate);
                }
            }
            if (furthest.endOffset() > next) {
                // One that starts within it may reach further still: it goes on where this one ends.
                pieces.add(new Piece(furthest, next, furthest.endOffset()));
                next = furthest.endOffset();
            } else {
                unused.add(furthest);
            }
        }
        return new Found(List.copyOf(pieces), List.copyOf(gaps), List.copyOf(unused));
    }
}
