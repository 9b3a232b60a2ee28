package io.varve.tiering.tools;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Topic;
import io.varve.tiering.manifest.ManifestWalk;
import io.varve.tiering.object.ObjectStore;
import java.io.PrintStream;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/**
 * {@code varve verify topic NAME [--deep]}: walks a topic's chains, the manifests that describe their old ends, and the objects behind them, by what the metadata says and by
 * what the objects say, and reports every gap, overlap, absence and disagreement. What retention takes away meanwhile is no problem. Used by one thread, which it blocks.
 */
public final class TopicVerify {

    private final ObjectStore store;
    private final ManifestWalk manifests;
    private final PrintStream out;
    private final boolean deep;
    private final BiConsumer<Long, Long> progress;

    /**
     * @param deep reads every byte of every object, instead of each one's tail
     * @param progress is told how many segments are done, of how many there were at the beginning
     */
    public TopicVerify(
            ObjectStore store, String clusterId, PrintStream out, boolean deep, BiConsumer<Long, Long> progress) {
        this.store = store;
        this.manifests = new ManifestWalk(store, clusterId);
        this.out = out;
        this.deep = deep;
        this.progress = progress;
    }

    /**
     * What was looked at.
     *
     * @param segments of the chains
     * @param inManifests of them described by manifests alone
     * @param offloaded of them in objects, as the metadata or a manifest says
     * @param objects that were found to be what they should be
     * @param bytes theirs
     * @param problems found; a line was printed for each
     */
    public record Result(long segments, long inManifests, long offloaded, long objects, long bytes, long problems) {}

    /**
     * Looks at all partitions of a topic.
     *
     * @param views linearizable ones: one to begin with, and another wherever something isn't there
     */
    public Result verify(Supplier<MetadataView> views, Topic topic) {
        MetadataView view = views.get();
        long total = segmentsOf(view, topic);
        Result sum = new Result(0, 0, 0, 0, 0, 0);
        for (PartitionState partition : view.partitions(topic.id())) {
            long before = sum.segments();
            PartitionVerify check = new PartitionVerify(
                    store, manifests, views, topic.name(), deep, out, done -> progress.accept(before + done, total));
            sum = plus(sum, check.verify(partition));
        }
        return sum;
    }

    /** How many segments a topic's chains have, those in manifests too. */
    public static long segmentsOf(MetadataView view, Topic topic) {
        return view.partitions(topic.id()).stream()
                .mapToLong(partition -> partition.chain().size()
                        + partition
                                .chain()
                                .manifest()
                                .map(ManifestRef::segments)
                                .orElse(0L))
                .sum();
    }

    private static Result plus(Result a, Result b) {
        return new Result(
                a.segments() + b.segments(),
                a.inManifests() + b.inManifests(),
                a.offloaded() + b.offloaded(),
                a.objects() + b.objects(),
                a.bytes() + b.bytes(),
                a.problems() + b.problems());
    }
}
