package io.varve.tiering.tools;

import io.varve.base.PartitionId;
import io.varve.metadata.model.ObjectKeys;
import io.varve.tiering.core.ChainFinder;
import io.varve.tiering.core.ObjectFooter;
import io.varve.tiering.core.ObjectTail;
import io.varve.tiering.core.SegmentKey;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.object.StoreFailures;
import io.varve.tiering.read.ObjectReads;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
     * @param footers of the objects, by key
     */
    public record Partition(String topicName, ChainFinder.Found chain, Map<String, ObjectFooter> footers) {

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
        TreeMap<PartitionId, TreeMap<String, ObjectFooter>> footers = new TreeMap<>();
        TreeMap<String, String> unreadable = new TreeMap<>();
        long read = 0;
        for (ObjectStore.Stat object : segments()) {
            try {
                ObjectTail tail =
                        ObjectReads.tail(store, object.key(), object.length()).join();
                footers.computeIfAbsent(tail.footer().partition(), p -> new TreeMap<>())
                        .put(object.key(), tail.footer());
            } catch (CompletionException e) {
                unreadable.put(object.key(), ObjectReads.failed(object.key(), e).getMessage());
            }
            progress.accept(++read);
        }
        TreeMap<PartitionId, Partition> partitions = new TreeMap<>();
        footers.forEach((partition, objects) -> partitions.put(partition, partition(objects)));
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

    private static Partition partition(TreeMap<String, ObjectFooter> objects) {
        List<ChainFinder.Candidate> candidates = new ArrayList<>();
        ObjectFooter newest = null;
        for (Map.Entry<String, ObjectFooter> object : objects.entrySet()) {
            ObjectFooter footer = object.getValue();
            candidates.add(new ChainFinder.Candidate(
                    object.getKey(), footer.startOffset(), footer.endOffset(), footer.attemptId()));
            newest = newest == null || footer.attemptId() > newest.attemptId() ? footer : newest;
        }
        return new Partition(newest.topicName(), ChainFinder.find(candidates), objects);
    }

    private List<ObjectStore.Stat> segments() {
        List<ObjectStore.Stat> found = new ArrayList<>();
        Optional<String> cursor = Optional.empty();
        do {
            ObjectStore.Page<ObjectStore.Stat> page =
                    get(store.list(ObjectKeys.clusterPrefix(clusterId), cursor, PAGE));
            page.items().stream()
                    .filter(object -> SegmentKey.parse(clusterId, object.key()).isPresent())
                    .forEach(found::add);
            cursor = page.cursor();
        } while (cursor.isPresent());
        return found;
    }

    private static <T> T get(CompletableFuture<T> answer) {
        try {
            return answer.join();
        } catch (CompletionException e) {
            throw StoreFailures.of(e);
        }
    }
}
