package io.varve.serving.partition;

import io.varve.base.BookieId;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A count of some partitions.
 *
 * @param owned that are served
 * @param opening that are being taken over
 * @param underReplicated whose open segment is written to fewer replicas than there should be
 * @param lagRecords for each bookie that is written to, how far its replica that is furthest behind is behind
 */
record PartitionFigures(int owned, int opening, int underReplicated, SortedMap<BookieId, Long> lagRecords) {

    static final PartitionFigures NONE = new PartitionFigures(0, 0, 0, new TreeMap<>());

    PartitionFigures plus(PartitionFigures other) {
        TreeMap<BookieId, Long> lags = new TreeMap<>(lagRecords);
        other.lagRecords.forEach((bookie, records) -> lags.merge(bookie, records, Math::max));
        return new PartitionFigures(
                owned + other.owned, opening + other.opening, underReplicated + other.underReplicated, lags);
    }
}
