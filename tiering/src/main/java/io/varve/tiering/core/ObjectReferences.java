package io.varve.tiering.core;

import io.varve.base.PartitionId;
import java.util.Collections;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What the metadata knows of the bucket, as of one moment. Immutable.
 *
 * @param lengths what it names, segments and manifests alike: the length of each, by key
 * @param liveAttempts uploads that may be going on
 * @param dueForDeletion keys whose deletion it has ordered and not yet seen done
 * @param unreadable partitions with a manifest that can't be read, and why: what they name isn't known
 */
public record ObjectReferences(
        SortedMap<String, Long> lengths,
        SortedSet<Long> liveAttempts,
        SortedSet<String> dueForDeletion,
        SortedMap<PartitionId, String> unreadable) {
    public ObjectReferences {
        lengths = Collections.unmodifiableSortedMap(new TreeMap<>(lengths));
        liveAttempts = Collections.unmodifiableSortedSet(new TreeSet<>(liveAttempts));
        dueForDeletion = Collections.unmodifiableSortedSet(new TreeSet<>(dueForDeletion));
        unreadable = Collections.unmodifiableSortedMap(new TreeMap<>(unreadable));
    }
}
