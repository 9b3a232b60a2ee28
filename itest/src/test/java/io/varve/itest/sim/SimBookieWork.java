package io.varve.itest.sim;

import io.netty.buffer.ByteBuf;
import io.varve.base.BookieId;
import io.varve.base.SegmentId;
import io.varve.bookie.client.BookieAddress;
import io.varve.bookie.client.BookieClient;
import io.varve.bookie.client.BookieClient.ReadPriority;
import io.varve.bookie.client.BookieClient.ReadReply;
import io.varve.bookie.client.BookieStatus;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataException;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.ObjectKeys;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.storage.EntryFormat;
import io.varve.sim.SimProcess;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * What one bookie does of what it is given to do: deletes, copies, uploads. The twin of the real works, which need disks: in small steps, each of which may be the last
 * of the process's life. Every future that comes out completes, well or not, while that life lasts.
 */
final class SimBookieWork {

    private static final int CHUNK_BYTES = 4_000;
    private static final long READ_MS = 300;

    private final SimCluster cluster;
    private final int id;
    private final SimProcess process;
    private final MetadataClient metadata;
    private final BookieClient others;
    private final int life;

    SimBookieWork(SimCluster cluster, int id, SimProcess process, MetadataClient metadata) {
        this.cluster = cluster;
        this.id = id;
        this.process = process;
        this.metadata = metadata;
        this.others = cluster.bookies().client("bookie-" + id);
        this.life = process.life();
    }

    CompletableFuture<Void> carryOut(BookieTask task) {
        if (task instanceof BookieTask.DeleteReplica delete) {
            return deleteReplica(delete);
        }
        if (task instanceof BookieTask.CopyReplica copy) {
            return new Copy(copy).begin();
        }
        if (task instanceof BookieTask.Offload offload) {
            return offload(offload);
        }
        if (task instanceof BookieTask.DeleteObject delete) {
            return deleteObject(delete);
        }
        throw new AssertionError("nothing of the kind is given out here: " + task);
    }

    private boolean isAlive() {
        return process.isAlive() && process.life() == life;
    }

    private boolean stands(MetadataView view, BookieTask task) {
        return view.tasksOf(new BookieId(id)).contains(task);
    }

    /** Reports that a task can't be done here. */
    CompletableFuture<Void> fail(BookieTask task, String why) {
        cluster.scheduler().trace("bookie " + id + " fails task " + task.taskId() + ": " + why);
        return report(() -> metadata.failTask(task.taskId(), why));
    }

    private CompletableFuture<Void> done(BookieTask task) {
        return report(() -> metadata.completeTask(task.taskId()));
    }

    /** Says it until it is answered, and never does the work again because nobody answered. */
    private CompletableFuture<Void> report(Supplier<CompletableFuture<Void>> say) {
        return say.get().handle((answered, failure) -> failure).thenCompose(failure -> {
            boolean isFinal = failure == null
                    || failure instanceof MetadataException refused
                            && refused.reason() != MetadataException.Reason.UNKNOWN_OUTCOME
                            && refused.reason() != MetadataException.Reason.UNAVAILABLE;
            return isFinal || !isAlive() ? CompletableFuture.completedFuture(null) : report(say);
        });
    }

    // ---- deletions: what can't be undone goes by a linearizable view in which the order stands (I-9, I-17)
    // -------------------------------

    private CompletableFuture<Void> deleteReplica(BookieTask.DeleteReplica task) {
        return metadata.linearizable().thenCompose(view -> {
            boolean named = view.segment(task.segment())
                    .filter(s -> s.replicas().stream()
                            .anyMatch(r -> r.bookie().value() == id && r.incarnation() == task.incarnation()))
                    .isPresent();
            if (!isAlive() || !stands(view, task) || named) {
                return CompletableFuture.completedFuture(null);
            }
            boolean isThisDisk = task.incarnation() == 0
                    || task.incarnation() == cluster.bookies().incarnation(id);
            CompletableFuture<Void> deleted = new CompletableFuture<>();
            if (isThisDisk) {
                cluster.scheduler().trace("bookie " + id + " deletes segment " + task.segment());
                cluster.bookies().delete(id, task.segment(), () -> deleted.complete(null));
            } else {
                deleted.complete(null);
            }
            return deleted.thenCompose(gone -> done(task));
        });
    }

    private CompletableFuture<Void> deleteObject(BookieTask.DeleteObject task) {
        return metadata.linearizable().thenCompose(view -> {
            if (!isAlive() || !stands(view, task)) {
                return CompletableFuture.completedFuture(null);
            }
            cluster.history().onObjectDeleted(task.key());
            cluster.bucket().delete(task.key());
            return done(task);
        });
    }

    // ---- repair
    // -----------------------------------------------------------------------------------------------------------------

    private final class Copy {
        private final BookieTask.CopyReplica task;
        private final List<BookieAddress> sources = new ArrayList<>();
        private final List<byte[]> entries = new ArrayList<>();
        private final CompletableFuture<Void> over = new CompletableFuture<>();
        private SegmentDescriptor segment;
        private long next;

        Copy(BookieTask.CopyReplica task) {
            this.task = task;
        }

        CompletableFuture<Void> begin() {
            MetadataView view = metadata.view();
            Optional<SegmentDescriptor> found = view.segment(task.segment());
            if (found.isEmpty() || task.incarnation() != cluster.bookies().incarnation(id)) {
                return fail(task, "nothing to copy, or nowhere");
            }
            segment = found.get();
            next = segment.startOffset();
            task.sources()
                    .forEach(source -> view.bookie(source.bookie())
                            .filter(b -> b.state() != BookieInfo.State.GONE && b.id().value() != id)
                            .ifPresent(b -> sources.add(new BookieAddress(b.id(), b.host(), b.port()))));
            if (cluster.bookies().end(id, segment.id()) >= segment.endOffset()) {
                return done(task);
            }
            read();
            return over;
        }

        private void read() {
            if (next >= segment.endOffset()) {
                complete();
            } else if (sources.isEmpty()) {
                end(fail(task, "no source"));
            } else {
                others.read(sources.get(0), segment.id(), next, CHUNK_BYTES, ReadPriority.CATCH_UP, READ_MS)
                        .thenAccept(reply -> process.execute(() -> onRead(reply)));
            }
        }

        private void onRead(ReadReply reply) {
            long before = next;
            if (reply.status() == BookieStatus.OK) {
                take(reply.entries());
            }
            reply.entries().release();
            if (next == before) {
                sources.remove(0);
            }
            read();
        }

        private void take(ByteBuf bytes) {
            ByteBuffer buffer = bytes.nioBuffer();
            int at = 0;
            while (next < segment.endOffset()
                    && EntryFormat.isIntact(buffer, at)
                    && EntryFormat.firstOffset(buffer, at) == next) {
                byte[] entry = new byte[EntryFormat.HEADER_BYTES + EntryFormat.payloadLength(buffer, at)];
                buffer.get(at, entry);
                entries.add(entry);
                next = EntryFormat.lastOffset(buffer, at) + 1;
                at += entry.length;
            }
        }

        private void complete() {
            if (!stands(metadata.view(), task)) {
                end(CompletableFuture.completedFuture(null));
                return;
            }
            cluster.scheduler().trace("bookie " + id + " copied segment " + segment.id());
            cluster.fenceOracle().onCopying(id, segment);
            cluster.bookies().importCopy(id, segment, entries, () -> process.execute(() -> end(done(task))));
        }

        private void end(CompletableFuture<Void> report) {
            report.whenComplete((done, failure) -> over.complete(null));
        }
    }

    // ---- offload
    // ----------------------------------------------------------------------------------------------------------------

    private CompletableFuture<Void> offload(BookieTask.Offload task) {
        MetadataView view = metadata.view();
        SimBucket.StoredObject object = new SimBucket.StoredObject(new TreeMap<>(), new TreeMap<>());
        long start = -1;
        long end = -1;
        for (SegmentId segmentId : task.segments()) {
            SegmentDescriptor segment = view.segment(segmentId).orElse(null);
            if (segment == null || !collect(segment, object)) {
                return fail(task, "segment " + segmentId + " is not whole here");
            }
            start = start < 0 ? segment.startOffset() : start;
            end = segment.endOffset();
        }
        String key = ObjectKeys.segment(view.clusterId(), task.partition(), start, task.taskId());
        ObjectRef named = new ObjectRef(key, task.taskId(), 1, 0, start, end, -1);
        return cluster.bucket().put(key, object).thenCompose(success -> {
            if (!isAlive()) {
                return CompletableFuture.completedFuture(null);
            }
            if (!success && !cluster.bookieBugs().commitsUnverified()) {
                return fail(task, "the put failed");
            }
            return cluster.bucket().readBack(key).thenCompose(stored -> {
                boolean verified =
                        stored.filter(o -> o.entries().equals(object.entries())).isPresent();
                if (!isAlive()) {
                    return CompletableFuture.completedFuture(null);
                }
                return verified || cluster.bookieBugs().commitsUnverified()
                        ? commit(task, named)
                        : fail(task, "what is stored is not what was put");
            });
        });
    }

    private CompletableFuture<Void> commit(BookieTask.Offload task, ObjectRef object) {
        cluster.scheduler().trace("bookie " + id + " offloaded " + object.key());
        return report(() -> metadata.commitOffload(task.taskId(), object));
    }

    /** Adds what this bookie holds of a segment to an object; false if that isn't all of it. */
    private boolean collect(SegmentDescriptor segment, SimBucket.StoredObject into) {
        long next = segment.startOffset();
        for (byte[] entry : cluster.bookies().entries(id, segment.id())) {
            ByteBuffer bytes = ByteBuffer.wrap(entry);
            if (next < segment.endOffset()
                    && EntryFormat.isIntact(bytes, 0)
                    && EntryFormat.firstOffset(bytes, 0) == next) {
                into.entries().put(next, entry);
                next = EntryFormat.lastOffset(bytes, 0) + 1;
            }
        }
        Map.Entry<Long, byte[]> checkpoint = cluster.bookies().lastCheckpoint(id, segment.id());
        if (checkpoint != null && checkpoint.getKey() <= segment.endOffset()) {
            into.checkpoints().put(checkpoint.getKey(), checkpoint.getValue());
        }
        return next >= segment.endOffset();
    }
}
