package io.varve.metadata.api;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * The metadata service as its clients see it: a local view kept fresh by a watch, and commands that a quorum decides.
 *
 * <p>Safe for any thread. Futures complete on the client's own threads: don't block them. Every command has the client's deadline; past
 * it the future fails with {@link MetadataException.Reason#UNKNOWN_OUTCOME}. Commands are retried inside the client under one command id,
 * so that none is carried out twice. When a command's future completes, the local {@link #view()} already contains its effect.
 */
public interface MetadataClient extends AutoCloseable {

    /** The newest version that reached this process. Never moves back. */
    MetadataView view();

    /** Calls {@code listener} with all that is there now as a first change from nothing, then with every change. */
    void subscribe(MetadataListener listener);

    /** Ends a subscription; a call under way may still finish. */
    void unsubscribe(MetadataListener listener);

    /** The metadata node that leads, as far as this process knows: for people. */
    default OptionalInt leader() {
        return OptionalInt.empty();
    }

    /** A view that contains every change that any client was told of before this call (read index). */
    CompletableFuture<MetadataView> linearizable();

    /**
     * Opens this broker's session and keeps it alive until it is closed. A process of the same id with another incarnation that still
     * lives makes it fail with {@link MetadataException.Reason#DUPLICATE_NODE}.
     */
    CompletableFuture<NodeSession> registerBroker(BrokerInfo broker);

    /** Opens this bookie's session and keeps it alive until it is closed. */
    CompletableFuture<NodeSession> registerBookie(BookieRegistration bookie);

    /**
     * Creates a topic, with its partitions given to live brokers at once.
     *
     * @param partitions how many, or -1 for the cluster's {@code num.partitions}
     * @param replicas R, or -1 for the cluster's {@code default.replication.factor}
     */
    CompletableFuture<Topic> createTopic(String name, int partitions, int replicas, Map<String, String> configs);

    /** Deletes a topic; its segments and objects are deleted by tasks afterwards. */
    CompletableFuture<Void> deleteTopic(TopicId topic);

    /** Raises the number of partitions to {@code total}. */
    CompletableFuture<Topic> createPartitions(TopicId topic, int total);

    /** Sets (or, with an empty value, removes) configuration of a topic. */
    CompletableFuture<Topic> alterTopicConfigs(TopicId topic, Map<String, Optional<String>> changes);

    /** Sets (or removes) configuration of the cluster, or of one broker if {@code broker} is given. */
    CompletableFuture<Void> alterBrokerConfigs(Optional<Integer> broker, Map<String, Optional<String>> changes);

    /**
     * Asks for a new segment: an id and R writable bookies, each with the incarnation of the directory to use. While fewer than R are
     * usable but at least A, it gets those there are, so that one bookie fewer stops nobody from writing. It is PENDING until {@link #roll}
     * puts it into the chain. It may be asked for well ahead of the roll: where it starts is decided by the roll. A roll drops all other
     * pending segments of the partition, and so does a higher epoch.
     *
     * @param epoch the caller's; must be the partition's
     * @param startOffset where it will start, as far as known: the roll puts the seal's end in its place
     * @param avoid bookies that just failed this partition: used only if there are not enough others
     */
    CompletableFuture<SegmentDescriptor> allocateSegment(
            PartitionId partition, int epoch, long startOffset, Set<BookieId> avoid);

    /**
     * The one atomic change of a chain: seals the open segment, if there is one, and opens the next. By compare-and-set on the epoch and
     * on the open segment.
     */
    CompletableFuture<PartitionState> roll(Roll roll);

    /**
     * The owner gives the partition back with its chain sealed, so that the next owner need not fence anybody.
     *
     * @param sealed the seal of the open segment, or empty if the chain has no open one
     * @param successor the broker that should own it next, or empty for whichever the planner picks
     */
    CompletableFuture<PartitionState> release(
            PartitionId partition, int epoch, Optional<Seal> sealed, Optional<Integer> successor);

    /** Moves the start of the log up; what lies wholly below is deleted by tasks. Never moves it back. */
    CompletableFuture<PartitionState> advanceLogStart(PartitionId partition, int epoch, long logStartOffset);

    /**
     * Asks for a segment to write into what compaction keeps of adjoining sealed ones: their start and end are its own. It stays beside the chain until {@link #replaceSegments}. A partition has one such at a
     * time: asking for another drops it, as do a higher epoch and the end of one of its inputs. Its bookies are chosen as those of any segment are.
     *
     * @param epoch the caller's; must be the partition's
     * @param inputs in the chain's order, at most {@link io.varve.metadata.model.SegmentChain#STRETCH_MAX}
     * @param avoid bookies that just failed this partition
     */
    CompletableFuture<SegmentDescriptor> allocateRewrite(
            PartitionId partition, int epoch, List<SegmentId> inputs, Set<BookieId> avoid);

    /**
     * Puts a rewrite in the place of the segments that it was made of: one atomic change of the chain, by compare-and-set on the epoch and on the inputs. The inputs' copies and objects are deleted by tasks
     * afterwards.
     *
     * @param seal of the rewrite; its holders are at least as many as acknowledge an entry (I-1)
     * @param compactedEnd up to where compaction has looked at what it was made of, exclusive: at most its end
     */
    CompletableFuture<PartitionState> replaceSegments(
            PartitionId partition, int epoch, Seal seal, List<SegmentId> inputs, long compactedEnd);

    /** Producer ids for the exclusive use of the caller. */
    CompletableFuture<ProducerIdBlock> allocateProducerIds();

    /** Records that an {@link io.varve.metadata.model.BookieTask.Offload} is done: the object was read back and verified (I-10). */
    CompletableFuture<Void> commitOffload(long taskId, ObjectRef object);

    /**
     * Records that work on a manifest is done: what was written was read back, or what was to be deleted is gone.
     *
     * @param manifest the pointer to put in the place of the one that the task was given for; empty if nothing of it is left
     * @param superseded keys of roots and leaves that nothing names from then on; the service has them deleted when their readers are gone
     */
    CompletableFuture<Void> commitManifest(long taskId, Optional<ManifestRef> manifest, List<String> superseded);

    /**
     * Records that a task can't be done by its bookie now; the service cleans up after it and gives the work out again later. A bookie that says so of a copy that it should delete has read all of it,
     * and doesn't see the object that takes its place: the copy is read again from then on.
     *
     * @param leftNothing of an {@link io.varve.metadata.model.BookieTask.Offload}: certainly no object came of it, nor will, so that there is none to be deleted
     */
    CompletableFuture<Void> failTask(long taskId, String reason, boolean leftNothing);

    /** The same of what may have left something. */
    default CompletableFuture<Void> failTask(long taskId, String reason) {
        return failTask(taskId, reason, false);
    }

    /**
     * Records why a bookie can't delete a copy that it goes on trying to delete: neither the object that takes its place nor the copy itself can be read. It is an alarm until the order was carried out.
     *
     * @param reason one line, {@code CLASS: text}
     */
    CompletableFuture<Void> reportStuck(long taskId, String reason);

    /** Records that a deletion was carried out, or a copy is complete, verified and durable. */
    CompletableFuture<Void> completeTask(long taskId);

    /**
     * Records that an unconfirmed replica of a sealed segment holds everything below its end durably. Said by the bookie itself, when it
     * learns of the seal and its own end reaches it, or by the owner once the replica caught up.
     */
    CompletableFuture<Void> confirmReplica(SegmentId segment, BookieId bookie);

    /** Records that a replica is lost or corrupt, so that it is never read again and is repaired. */
    CompletableFuture<Void> reportLostReplica(SegmentId segment, BookieId bookie, String reason);

    /** An operator's word on a broker: draining, or live again. Its partitions leave as it releases them. */
    CompletableFuture<Void> setBrokerState(int broker, BrokerInfo.State state);

    /**
     * An operator's word on a bookie, whether it lives or not: draining, so that it is emptied for good, or writable again. It holds until an operator
     * says otherwise.
     */
    CompletableFuture<Void> setBookieState(BookieId bookie, BookieInfo.State state);

    /** Forgets a bookie that is gone and of which nothing is needed any longer. */
    CompletableFuture<Void> removeBookie(BookieId bookie);

    /** Ends the watch, closes sessions gracefully, and fails what is under way with UNKNOWN_OUTCOME. */
    @Override
    void close();

    /** What a bookie says of itself when it registers. */
    record BookieRegistration(
            BookieId id,
            long sessionId,
            List<Long> incarnations,
            String rack,
            String host,
            int port,
            long freeBytes,
            long totalBytes) {
        public BookieRegistration {
            incarnations = List.copyOf(incarnations);
        }

        /** The bookie that it makes. */
        public BookieInfo toBookie() {
            return new BookieInfo(
                    id,
                    sessionId,
                    incarnations,
                    rack,
                    host,
                    port,
                    BookieInfo.State.WRITABLE,
                    freeBytes,
                    totalBytes,
                    -1);
        }
    }

    /**
     * How a segment ends.
     *
     * @param segment the open segment
     * @param endOffset exclusive
     * @param bytes payload and entry headers below {@code endOffset}, or -1 if the sealer doesn't know
     * @param maxTimestampMs largest record time below {@code endOffset}, or -1
     * @param holders the bookies known to hold all of it durably; the others become {@link SegmentDescriptor#unconfirmed()}
     */
    record Seal(SegmentId segment, long endOffset, long bytes, long maxTimestampMs, Set<BookieId> holders) {
        public Seal {
            holders = java.util.Collections.unmodifiableSet(new java.util.TreeSet<>(holders));
        }
    }

    /**
     * A roll.
     *
     * @param epoch the caller's; must be the partition's
     * @param seal how the open segment ends; empty only if the chain has no open segment
     * @param opened a pending segment of this partition and epoch; it starts at the seal's end, or without a seal at the end of the
     *     chain, or in an empty chain at the log's start
     */
    record Roll(PartitionId partition, int epoch, Optional<Seal> seal, SegmentId opened) {}

    /**
     * Ids nobody else has.
     *
     * @param first the first of them
     * @param count how many follow one another
     */
    record ProducerIdBlock(long first, int count) {}
}
