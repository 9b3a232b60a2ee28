package io.varve.metadata.core;

import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.SegmentDescriptor.State;
import io.varve.metadata.model.TopicConfigs;

/**
 * Where a log should start by Kafka's rules: what is older than {@code retention.ms} goes, and what is more than {@code retention.bytes}. Segments go whole; of what a manifest
 * describes, whole objects up to one of its marks. The last segment never goes.
 */
final class Retention {

    private final PartitionState partition;
    private final TopicConfigs configs;
    private final long nowMs;

    private Retention(PartitionState partition, TopicConfigs configs, long nowMs) {
        this.partition = partition;
        this.configs = configs;
        this.nowMs = nowMs;
    }

    /** The offset, or the log's own start if nothing is to go. */
    static long startOf(PartitionState partition, TopicConfigs configs, long nowMs) {
        if (!configs.deletedByRetention()) {
            return partition.logStartOffset();
        }
        Retention retention = new Retention(partition, configs, nowMs);
        return Math.max(partition.logStartOffset(), Math.max(retention.byAge(), retention.bySize()));
    }

    private long byAge() {
        if (configs.retentionMs() < 0) {
            return 0;
        }
        long start = 0;
        ManifestRef manifest = partition.chain().manifest().orElse(null);
        if (manifest != null) {
            for (ManifestRef.Mark mark : manifest.marks()) {
                start = isOld(mark.ageStampMs()) ? mark.offset() : start;
            }
            if (start < manifest.endOffset()) {
                return start;
            }
        }
        for (SegmentDescriptor segment : partition.chain().segments()) {
            if (segment.state() != State.SEALED || !isOld(segment.ageStampMs()) || isLast(segment)) {
                break;
            }
            start = segment.endOffset();
        }
        return start;
    }

    private boolean isOld(long stampMs) {
        return nowMs - stampMs > configs.retentionMs();
    }

    private long bySize() {
        if (configs.retentionBytes() < 0) {
            return 0;
        }
        long start = 0;
        long rest = 0;
        for (SegmentDescriptor segment : partition.chain().segments()) {
            rest += Math.max(0, segment.bytes());
        }
        ManifestRef manifest = partition.chain().manifest().orElse(null);
        if (manifest != null) {
            for (ManifestRef.Mark mark : manifest.marks()) {
                boolean isEnoughLeft = rest + manifest.bytes() - mark.bytesBelow() >= configs.retentionBytes();
                start = isEnoughLeft ? mark.offset() : start;
            }
            if (start < manifest.endOffset()) {
                return start;
            }
        }
        for (SegmentDescriptor segment : partition.chain().segments()) {
            rest -= Math.max(0, segment.bytes());
            if (segment.state() != State.SEALED || isLast(segment) || rest < configs.retentionBytes()) {
                break;
            }
            start = segment.endOffset();
        }
        return start;
    }

    private boolean isLast(SegmentDescriptor segment) {
        return partition.chain().last().filter(s -> s.id().equals(segment.id())).isPresent();
    }
}
