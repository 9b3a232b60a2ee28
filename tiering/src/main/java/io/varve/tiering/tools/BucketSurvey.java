package io.varve.tiering.tools;

import io.varve.base.PartitionId;
import io.varve.metadata.model.ObjectKeys;
import io.varve.tiering.core.ChainFinder;
import io.varve.tiering.core.HeldObject;
import io.varve.tiering.core.ObjectTail;
import io.varve.tiering.core.SegmentKey;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.object.StoreFailures;
import io.varve.tiering.read.ObjectReads;
import java.io.PrintStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.LongConsumer;

/**
 * What a bucket alone says of a cluster: its topics with their ids and names, and for each partition the chain that its objects make up.
 * The first step of a recovery without metadata. Reads the tail of every object; used by one thread, which it blocks.
 */
public final class BucketSurvey {

    private static final int PAGE = 1000;

    /** Tails asked for at a time: each is one GET, and a bucket holds many. */
    private static final int IN_FLIGHT_MAX = 32;

    private final ObjectStore store;
    private final String clusterId;

    public BucketSurvey(ObjectStore store, String clusterId) {
        this.store = store;
        this.clusterId = clusterId;
    }

    /**
     * What was found.
     *
     * @param partitions by id
     * @param unreadable objects that could not be read, with the reason: what they hold is not in the chains
     */
    public record Survey(Map<PartitionId, Partition> partitions, Map<String, String> unreadable) {}

    /**
     * A partition.
     *
     * @param topicName as the newest object names it
     * @param chain which objects hold which offsets
     * @param objects all that are intact, by key
     */
    public record Partition(String topicName, ChainFinder.Found chain, SortedMap<String, HeldObject> objects) {

        /** The first offset that the bucket holds. */
        public long startOffset() {
            return chain.pieces().get(0).startOffset();
        }

        /** Exclusive. */
        public long endOffset() {
            return chain.pieces().get(chain.pieces().size() - 1).endOffset();
        }
    }

    /**
     * Lists the cluster's objects and reads what each says of itself.
     *
     * @param progress is told how many were read so far
     * @throws io.varve.tiering.object.StoreException if the bucket can't be listed
     */
    public Survey look(LongConsumer progress) {
        return look(ObjectKeys.clusterPrefix(clusterId), (key, object) -> false, progress);
    }

    /** Takes objects that need not be read, for somebody knows already what they say. In the order of keys. */
    @FunctionalInterface
    interface Known {
        /** Whether it is one of those. */
        boolean take(SegmentKey key, ObjectStore.Stat object);
    }

    /**
     * {@link #look(LongConsumer)} at some of the keys. A page of the listing in memory, and what was read.
     *
     * @param prefix of the keys
     */
    Survey look(String prefix, Known known, LongConsumer progress) {
        TreeMap<PartitionId, TreeMap<String, HeldObject>> objects = new TreeMap<>();
        TreeMap<String, String> unreadable = new TreeMap<>();
        ArrayDeque<Asked> asked = new ArrayDeque<>();
        long seen = 0;
        Optional<String> cursor = Optional.empty();
        do {
            ObjectStore.Page<ObjectStore.Stat> page = get(store.list(prefix, cursor, PAGE));
            for (ObjectStore.Stat object : page.items()) {
                Optional<SegmentKey> key = SegmentKey.parse(clusterId, object.key());
                if (key.isPresent() && !known.take(key.get(), object)) {
                    if (asked.size() == IN_FLIGHT_MAX) {
                        take(asked.poll(), objects, unreadable);
                    }
                    asked.add(new Asked(object.key(), ObjectReads.tail(store, object.key(), object.length())));
                }
                seen += key.isPresent() ? 1 : 0;
            }
            progress.accept(seen);
            cursor = page.cursor();
        } while (cursor.isPresent());
        asked.forEach(last -> take(last, objects, unreadable));
        TreeMap<PartitionId, Partition> partitions = new TreeMap<>();
        objects.forEach((partition, held) -> partitions.put(partition, partition(held)));
        return new Survey(partitions, unreadable);
    }

    /** Prints a line for each partition, gap and unreadable object. */
    public static void print(Survey survey, PrintStream out) {
        survey.partitions().forEach((id, partition) -> {
            out.printf(
                    "%s-%d (%s): offsets %d to %d in %d objects%n",
                    partition.topicName(),
                    id.index(),
                    id.topic(),
                    partition.startOffset(),
                    partition.endOffset() - 1,
                    partition.chain().pieces().size());
            partition
                    .chain()
                    .gaps()
                    .forEach(gap -> out.printf(
                            "%s-%d: GAP, offsets %d to %d are in no object%n",
                            partition.topicName(), id.index(), gap.startOffset(), gap.endOffset() - 1));
        });
        survey.unreadable().forEach((key, reason) -> out.printf("UNREADABLE %s: %s%n", key, reason));
    }

    private record Asked(String key, CompletableFuture<ObjectTail> tail) {}

    private static void take(
            Asked asked,
            TreeMap<PartitionId, TreeMap<String, HeldObject>> objects,
            TreeMap<String, String> unreadable) {
        try {
            ObjectTail tail = asked.tail().join();
            objects.computeIfAbsent(tail.footer().partition(), p -> new TreeMap<>())
                    .put(asked.key(), HeldObject.of(asked.key(), tail));
        } catch (CompletionException e) {
            unreadable.put(asked.key(), ObjectReads.failed(asked.key(), e).getMessage());
        }
    }

    private static Partition partition(TreeMap<String, HeldObject> objects) {
        List<ChainFinder.Candidate> candidates = new ArrayList<>();
        HeldObject newest = null;
        for (HeldObject object : objects.values()) {
            candidates.add(new ChainFinder.Candidate(
                    object.ref().key(),
                    object.ref().startOffset(),
                    object.ref().endOffset(),
                    object.ref().attemptId()));
            boolean isNewer =
                    newest == null || object.ref().attemptId() > newest.ref().attemptId();
            newest = isNewer ? object : newest;
        }
        return new Partition(newest.topicName(), ChainFinder.find(candidates), objects);
    }

    private static <T> T get(CompletableFuture<T> answer) {
        try {
            return answer.join();
        } catch (CompletionException e) {
            throw StoreFailures.of(e);
        }
    }
}
