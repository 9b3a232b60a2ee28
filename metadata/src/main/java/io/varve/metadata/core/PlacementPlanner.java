package io.varve.metadata.core;

import io.varve.base.BookieId;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.Replica;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Chooses bookies for a new segment, or for one more copy of an old one: distinct live ones that take writes, slow ones only where there are no others, of as
 * many racks as there are, the less loaded first. A bookie's load is the number of segments being written on it against the share of its space that is free. Ties are broken by the
 * command's seed, and so is the choice among a bookie's directories. Deterministic given image and seed.
 */
final class PlacementPlanner {

    /** A share of free space below this counts as this. */
    private static final double FREE_SHARE_LEAST = 0.01;

    private final List<Candidate> candidates = new ArrayList<>();
    private final List<Replica> chosen = new ArrayList<>();
    private final Set<String> racks = new TreeSet<>();
    private final long seed;

    private record Candidate(BookieInfo bookie, double load, long tieBreak) {
        static final Comparator<Candidate> LIGHTEST_FIRST = Comparator.comparingDouble(Candidate::load)
                .thenComparingLong(Candidate::tieBreak)
                .thenComparing(c -> c.bookie.id());
    }

    private PlacementPlanner(MetadataImage image, boolean isEssential, long seed) {
        this.seed = seed;
        for (BookieInfo bookie : image.bookies()) {
            boolean takesIt =
                    bookie.state().takesSegments() || isEssential && bookie.state() == BookieInfo.State.READ_ONLY;
            if (takesIt && !bookie.incarnations().isEmpty()) {
                double share = bookie.totalBytes() <= 0 ? 1 : (double) bookie.freeBytes() / bookie.totalBytes();
                double load = (image.segmentIndex().writtenOn(bookie.id()) + 1) / Math.max(FREE_SHARE_LEAST, share);
                candidates.add(
                        new Candidate(bookie, load, mixed(seed + bookie.id().value())));
            }
        }
        candidates.sort(Candidate.LIGHTEST_FIRST);
    }

    /**
     * Places for a new segment: {@code replicas} of them, or as many as there are; those to avoid only if there would be fewer than {@code acks} without them.
     *
     * @param isEssential whether the cluster itself stands on the partition: full bookies keep a reserve for it, which is used where there are no others
     * @return fewer than {@code acks} if there are not enough bookies
     */
    static List<Replica> place(
            MetadataImage image, int replicas, int acks, boolean isEssential, Collection<BookieId> avoid, long seed) {
        PlacementPlanner planner = new PlacementPlanner(image, isEssential, seed);
        List<BookieId> full = planner.with(avoid, BookieInfo.State.READ_ONLY);
        planner.choose(replicas, planner.with(full, BookieInfo.State.SLOW));
        planner.choose(replicas, full);
        planner.choose(replicas, avoid);
        planner.choose(acks, List.of());
        return planner.chosen;
    }

    /**
     * A place for one more copy.
     *
     * @param holders those that have one: none of them
     * @param staying those of the holders that keep theirs: in no rack of theirs if that can be
     * @param avoid none of them
     */
    static Optional<Replica> placeOneMore(
            MetadataImage image,
            Collection<BookieId> holders,
            Collection<BookieId> staying,
            Collection<BookieId> avoid,
            long seed) {
        PlacementPlanner planner = new PlacementPlanner(image, false, seed);
        for (BookieId holder : staying) {
            image.bookie(holder).ifPresent(b -> planner.racks.add(b.rack()));
        }
        planner.candidates.removeIf(c -> holders.contains(c.bookie.id()));
        planner.choose(1, planner.with(avoid, BookieInfo.State.SLOW));
        planner.choose(1, avoid);
        return planner.chosen.stream().findFirst();
    }

    private List<BookieId> with(Collection<BookieId> avoid, BookieInfo.State state) {
        List<BookieId> all = new ArrayList<>(avoid);
        for (Candidate candidate : candidates) {
            if (candidate.bookie.state() == state) {
                all.add(candidate.bookie.id());
            }
        }
        return all;
    }

    private void choose(int upTo, Collection<BookieId> avoid) {
        while (chosen.size() < upTo) {
            Optional<Candidate> next = lightest(avoid, true).or(() -> lightest(avoid, false));
            if (next.isEmpty()) {
                return;
            }
            candidates.remove(next.get());
            racks.add(next.get().bookie.rack());
            chosen.add(new Replica(next.get().bookie.id(), directoryOf(next.get().bookie)));
        }
    }

    private Optional<Candidate> lightest(Collection<BookieId> avoid, boolean inNewRack) {
        for (Candidate candidate : candidates) {
            if (!avoid.contains(candidate.bookie.id()) && !(inNewRack && racks.contains(candidate.bookie.rack()))) {
                return Optional.of(candidate);
            }
        }
        return Optional.empty();
    }

    private long directoryOf(BookieInfo bookie) {
        List<Long> directories = bookie.incarnations();
        return directories.get((int) Long.remainderUnsigned(mixed(seed ^ 0x5bd1e995L), directories.size()));
    }

    /** Spreads the bits of a number over all of it (the finalizer of SplitMix64). */
    private static long mixed(long bits) {
        long z = bits + 0x9e3779b97f4a7c15L;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }
}
