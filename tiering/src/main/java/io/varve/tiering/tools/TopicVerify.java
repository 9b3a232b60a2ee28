package io.varve.tiering.tools;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.compress.Lz4FrameCompression;
import io.varve.tiering.core.ObjectFooter;
import io.varve.tiering.core.ObjectTail;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.read.ObjectReads;
import io.varve.tiering.read.ObjectWalk;
import java.io.PrintStream;
import java.util.concurrent.CompletionException;
import java.util.function.BiConsumer;

/**
 * {@code varve verify topic NAME [--deep]}: walks a topic's chains and the objects behind them, by what the metadata says and by what the
 * objects say, and reports every gap, overlap, absence and disagreement. Used by one thread, which it blocks.
 */
public final class TopicVerify {

    private static final int RANGE_BYTES = 8 * 1024 * 1024;

    private final ObjectStore store;
    private final PrintStream out;
    private final boolean deep;
    private final BiConsumer<Long, Long> progress;

    /**
     * @param deep reads every byte of every object, instead of each one's tail
     * @param progress is told how many segments are done, of how many
     */
    public TopicVerify(ObjectStore store, PrintStream out, boolean deep, BiConsumer<Long, Long> progress) {
        this.store = store;
        this.out = out;
        this.deep = deep;
        this.progress = progress;
    }

    /**
     * What was looked at.
     *
     * @param segments of the chains
     * @param offloaded of them in the bucket
     * @param bytes of objects that were read
     * @param problems found; a line was printed for each
     */
    public record Result(long segments, long offloaded, long bytes, long problems) {}

    /** Looks at all partitions of a topic. */
    public Result verify(MetadataView view, Topic topic) {
        long total = 0;
        for (PartitionState partition : view.partitions(topic.id())) {
            total += partition.chain().size();
        }
        Result sum = new Result(0, 0, 0, 0);
        for (PartitionState partition : view.partitions(topic.id())) {
            sum = verify(topic, partition, sum, total);
        }
        return sum;
    }

    private Result verify(Topic topic, PartitionState partition, Result before, long total) {
        Result sum = before;
        long next = -1;
        ObjectRef seen = null;
        for (SegmentDescriptor segment : partition.chain().segments()) {
            long problems = 0;
            long bytes = 0;
            if (next >= 0 && segment.startOffset() != next) {
                problems += problem(
                        topic,
                        partition,
                        "segment " + segment.id() + " starts at " + segment.startOffset() + ", the one before ends at "
                                + next + " (I-8)");
            }
            next = segment.endOffset();
            ObjectRef object = segment.object().orElse(null);
            if (object != null && !object.equals(seen)) {
                problems += object(topic, partition, object);
                bytes = object.length();
                seen = object;
            }
            if (object != null
                    && (segment.startOffset() < object.startOffset() || segment.endOffset() > object.endOffset())) {
                problems += problem(
                        topic, partition, "segment " + segment.id() + " isn't wholly in its object " + object.key());
            }
            if (object == null && segment.replicas().isEmpty()) {
                problems += problem(topic, partition, "segment " + segment.id() + " is held by nobody");
            }
            sum = new Result(
                    sum.segments() + 1,
                    sum.offloaded() + (object == null ? 0 : 1),
                    sum.bytes() + bytes,
                    sum.problems() + problems);
            progress.accept(sum.segments(), total);
        }
        return sum;
    }

    private long object(Topic topic, PartitionState partition, ObjectRef object) {
        try {
            ObjectTail tail = deep
                    ? new ObjectWalk(store, Lz4FrameCompression.INSTANCE, RANGE_BYTES)
                            .verify(object.key(), object.length(), block -> {})
                    : ObjectReads.tail(store, object.key(), object.length()).join();
            return compare(topic, partition, object, tail);
        } catch (RemoteReadException | CompletionException e) {
            RemoteReadException told = ObjectReads.failed(object.key(), e);
            return problem(topic, partition, told.kind() + " " + told.getMessage());
        }
    }

    private long compare(Topic topic, PartitionState partition, ObjectRef object, ObjectTail tail) {
        ObjectFooter footer = tail.footer();
        boolean agree = tail.crc() == object.crc32c()
                && footer.partition().equals(partition.id())
                && footer.attemptId() == object.attemptId()
                && footer.startOffset() == object.startOffset()
                && footer.endOffset() == object.endOffset()
                && footer.maxTimestampMs() == object.maxTimestampMs();
        return agree ? 0 : problem(topic, partition, object.key() + " is another object than the metadata speaks of");
    }

    private long problem(Topic topic, PartitionState partition, String what) {
        out.printf("%s-%d: %s%n", topic.name(), partition.id().index(), what);
        return 1;
    }
}
