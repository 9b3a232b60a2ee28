package io.varve.serving.partition;

import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.metadata.model.TopicConfigs;
import io.varve.serving.core.compaction.CompactionPlan;
import io.varve.serving.core.compaction.CompactionPlan.Wishes;
import io.varve.serving.core.compaction.CompactionRules;
import io.varve.serving.core.compaction.CompactionTurns;
import io.varve.serving.core.compaction.CompactionTurns.Attempt;
import io.varve.serving.core.compaction.Rewriting;
import io.varve.serving.partition.CompactionRun.Outcome;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compacts the partitions of a broker, one at a time, on a loop of its own: looks at all that it serves every so often, and takes of those that are worth a pass the one that had none for the longest time. What a pass
 * goes by is read anew for each, so that changed topic configuration counts from the next one on.
 */
final class Compactor {

    private static final Logger LOG = LoggerFactory.getLogger(Compactor.class);

    private final PartitionContext context;
    private final PartitionLoop loop;
    private final Supplier<? extends Collection<? extends CompactableLog>> logs;
    private final CompactionPasses passes;
    private final CompactionMetrics metrics;
    private final CompactionOptions options;
    private final ByteRate rate;
    private final CompactionTurns turns;
    private CompactionRun run;
    private long startedNs;
    private long nextLookNs;
    private boolean stopped;

    /** @param logs all that this broker has */
    Compactor(
            PartitionContext context,
            PartitionLoop loop,
            Supplier<? extends Collection<? extends CompactableLog>> logs,
            CompactionPasses passes,
            CompactionMetrics metrics) {
        this.context = context;
        this.loop = loop;
        this.logs = logs;
        this.passes = passes;
        this.metrics = metrics;
        this.options = context.options().compaction();
        this.rate = new ByteRate(options.bytesPerSecondMax(), context.clock().nanoTime());
        this.turns = new CompactionTurns(options.intervalMs() * 1_000_000);
        this.nextLookNs = context.clock().nanoTime() + options.intervalMs() * 1_000_000;
    }

    /** Time has passed. On the loop. */
    void tick() {
        if (run != null) {
            run.tick();
        } else if (!stopped && context.clock().nanoTime() - nextLookNs >= 0) {
            look();
        }
    }

    /** Ends what is under way. On the loop. */
    void stop() {
        stopped = true;
        if (run != null) {
            run.stop();
        }
    }

    private record Candidate(
            CompactableLog log, TopicConfigs configs, CompactionPlan plan, PartitionState partition, Attempt attempt) {}

    private void look() {
        MetadataView view = context.metadata().view();
        long nowNs = context.clock().nanoTime();
        List<Candidate> candidates = new ArrayList<>();
        TreeSet<PartitionId> compacted = new TreeSet<>();
        long dirtyBytes = 0;
        for (CompactableLog log : logs.get()) {
            Optional<Topic> topic = view.topic(log.id().topic());
            Optional<PartitionState> partition = view.partition(log.id());
            if (!log.isServing() || topic.isEmpty() || partition.isEmpty()) {
                continue;
            }
            TopicConfigs configs = loop.configsOf(topic.get(), view.clusterConfigs());
            if (!configs.compacted()) {
                continue;
            }
            compacted.add(log.id());
            List<CompactionPlan.Segment> sealed = sealed(partition.get(), configs);
            dirtyBytes += CompactionPlan.dirtyBytes(sealed);
            Wishes wishes = wishes(configs);
            CompactionPlan.of(sealed, log.offsets().lastStable(), wishes)
                    .ifPresent(plan -> candidates.add(
                            new Candidate(log, configs, plan, partition.get(), Attempt.of(log.epoch(), plan, wishes))));
        }
        turns.retain(compacted);
        metrics.onDirty(dirtyBytes);
        metrics.onPaused(turns.paused(nowNs));
        nextLookNs = nowNs + options.intervalMs() * 1_000_000;
        candidates.stream()
                .filter(candidate -> turns.mayTry(candidate.log().id(), candidate.attempt(), nowNs))
                .min((a, b) -> turns.compare(a.log().id(), b.log().id()))
                .ifPresent(this::start);
    }

    /**
     * The sealed segments from the log's start on; none if the start lies in a manifest, for what is in there stays, and tombstones that are needed to hide it must not go.
     */
    private static List<CompactionPlan.Segment> sealed(PartitionState partition, TopicConfigs configs) {
        List<CompactionPlan.Segment> sealed = new ArrayList<>();
        boolean isOutOfReach = partition
                .chain()
                .manifest()
                .filter(manifest -> manifest.endOffset() > partition.logStartOffset())
                .isPresent();
        if (isOutOfReach) {
            return sealed;
        }
        for (SegmentDescriptor segment : partition.chain().segments()) {
            if (segment.state() == SegmentDescriptor.State.SEALED
                    && !segment.isEmpty()
                    && segment.endOffset() > partition.logStartOffset()) {
                sealed.add(new CompactionPlan.Segment(
                        segment.startOffset(),
                        segment.endOffset(),
                        segment.bytes() >= 0 ? segment.bytes() : configs.segmentBytes(),
                        segment.isCompacted() ? segment.compactedEnd() : segment.startOffset(),
                        segment.createdMs(),
                        segment.ageStampMs()));
            }
        }
        return sealed;
    }

    private Wishes wishes(TopicConfigs configs) {
        return new Wishes(
                configs.doubleOf("min.cleanable.dirty.ratio"),
                configs.longOf("min.compaction.lag.ms"),
                configs.longOf("max.compaction.lag.ms"),
                configs.segmentBytes(),
                context.clock().wallTimeMs());
    }

    private void start(Candidate candidate) {
        startedNs = context.clock().nanoTime();
        CompactionPlan plan = candidate.plan();
        List<SegmentDescriptor> inputs =
                CompactionRun.inputsOf(plan, candidate.partition().chain().segments());
        run = new CompactionRun(
                context, loop, candidate.log(), plan, inputs, source -> pass(candidate, source), metrics, rate);
        CompactionRun started = run;
        LOG.debug("event=compaction_began partition={} segments={}", started.id(), inputs.size());
        loop.on(started.start(), (outcome, never) -> onEnd(started, candidate, outcome));
    }

    private Rewriting pass(Candidate candidate, CompactionSource source) {
        CompactionRules rules = new CompactionRules(
                context.clock().wallTimeMs(),
                candidate.configs().longOf("delete.retention.ms"),
                options.inflatedBytesMax(),
                source.aborted(),
                source.lastBatches());
        return passes.begin(rules, candidate.plan().dirtyOffset());
    }

    private void onEnd(CompactionRun ended, Candidate candidate, Outcome outcome) {
        long nowNs = context.clock().nanoTime();
        run = null;
        switch (outcome) {
            case DONE, STOPPED -> turns.onEnd(ended.id(), nowNs);
            case FAILED, IMPOSSIBLE ->
                turns.onFailure(ended.id(), candidate.attempt(), outcome == Outcome.IMPOSSIBLE, nowNs);
        }
        metrics.onPaused(turns.paused(nowNs));
        metrics.onPass(outcome, (nowNs - startedNs) / 1e9);
        if (outcome == Outcome.DONE) {
            LOG.info(
                    "event=compacted partition={} start={} end={} tookMs={}",
                    ended.id(),
                    candidate.plan().startOffset(),
                    candidate.plan().endOffset(),
                    (nowNs - startedNs) / 1_000_000);
            nextLookNs = nowNs;
        } else {
            LOG.warn("event=compaction_ended partition={} outcome={} reason=\"{}\"", ended.id(), outcome, ended.why());
        }
    }
}
