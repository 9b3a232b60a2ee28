package io.varve.tiering.core;

import io.varve.metadata.model.ObjectRef;
import java.util.Collections;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What the metadata knows of the bucket, as of one moment. Immutable.
 *
 * @param objects what it names, by key
 * @param liveAttempts uploads that may be going on
 * @param dueForDeletion keys whose deletion it has ordered and not yet seen done
 */
public record ObjectReferences(
        SortedMap<String, ObjectRef> objects, SortedSet<Long> liveAttempts, SortedSet<String> dueForDeletion) {
    public ObjectReferences {
        objects = Collections.unmodifiableSortedMap(new TreeMap<>(objects));
        liveAttempts = Collections.unmodifiableSortedSet(new TreeSet<>(liveAttempts));
        dueForDeletion = Collections.unmodifiableSortedSet(new TreeSet<>(dueForDeletion));
    }
}
