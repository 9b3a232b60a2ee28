package io.varve.metadata.client;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataException;
import io.varve.metadata.api.MetadataException.Reason;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.core.ProtoModel;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.protocol.meta.AdvanceLogStartCommand;
import io.varve.protocol.meta.AllocateProducerIdsCommand;
import io.varve.protocol.meta.AllocateRewriteCommand;
import io.varve.protocol.meta.AllocateSegmentCommand;
import io.varve.protocol.meta.AlterBrokerConfigsCommand;
import io.varve.protocol.meta.AlterTopicConfigsCommand;
import io.varve.protocol.meta.CommandReply;
import io.varve.protocol.meta.CommitManifestCommand;
import io.varve.protocol.meta.CommitOffloadCommand;
import io.varve.protocol.meta.CompleteTaskCommand;
import io.varve.protocol.meta.ConfigChangeProto;
import io.varve.protocol.meta.ConfigEntryProto;
import io.varve.protocol.meta.ConfirmReplicaCommand;
import io.varve.protocol.meta.CreatePartitionsCommand;
import io.varve.protocol.meta.CreateTopicCommand;
import io.varve.protocol.meta.DeleteTopicCommand;
import io.varve.protocol.meta.FailTaskCommand;
import io.varve.protocol.meta.MetadataCommand;
import io.varve.protocol.meta.ReleaseCommand;
import io.varve.protocol.meta.RemoveBookieCommand;
import io.varve.protocol.meta.ReplaceSegmentsCommand;
import io.varve.protocol.meta.ReportLostReplicaCommand;
import io.varve.protocol.meta.ReportStuckTaskCommand;
import io.varve.protocol.meta.RollCommand;
import io.varve.protocol.meta.SealProto;
import io.varve.protocol.meta.SetBookieStateCommand;
import io.varve.protocol.meta.SetBrokerStateCommand;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * The commands of a client in terms of the messages that carry them. How a message gets decided, and how its effect gets into the view, is the subclass's: over the network, or in
 * this process for tests.
 */
public abstract class CommandingClient implements MetadataClient {

    /** A bound on what a reason may cost the log. */
    private static final int REASON_LENGTH_MAX = 500;

    /**
     * Has a command decided. The future completes once the view contains its effect, on a thread of the client's, and fails with {@link MetadataException} alone.
     *
     * @param command with nothing but its body
     */
    protected abstract CompletableFuture<CommandReply> submit(MetadataCommand.Builder command);

    /** Random. */
    protected abstract TopicId newTopicId();

    @Override
    public CompletableFuture<Topic> createTopic(
            String name, int partitions, int replicas, Map<String, String> configs) {
        CreateTopicCommand.Builder body = CreateTopicCommand.newBuilder()
                .setName(name)
                .setId(ProtoModel.toProto(newTopicId()))
                .setPartitions(partitions)
                .setReplicas(replicas);
        new TreeMap<>(configs)
                .forEach((key, value) -> body.addConfigs(
                        ConfigEntryProto.newBuilder().setKey(key).setValue(value)));
        return submit(command().setCreateTopic(body), reply -> topic(ProtoModel.fromProto(reply.getTopic())));
    }

    @Override
    public CompletableFuture<Void> deleteTopic(TopicId topic) {
        return submitVoid(
                command().setDeleteTopic(DeleteTopicCommand.newBuilder().setId(ProtoModel.toProto(topic))));
    }

    @Override
    public CompletableFuture<Topic> createPartitions(TopicId topic, int total) {
        CreatePartitionsCommand.Builder body = CreatePartitionsCommand.newBuilder()
                .setId(ProtoModel.toProto(topic))
                .setTotal(total);
        return submit(command().setCreatePartitions(body), reply -> topic(topic));
    }

    @Override
    public CompletableFuture<Topic> alterTopicConfigs(TopicId topic, Map<String, Optional<String>> changes) {
        AlterTopicConfigsCommand.Builder body =
                AlterTopicConfigsCommand.newBuilder().setId(ProtoModel.toProto(topic));
        new TreeMap<>(changes).forEach((key, value) -> body.addChanges(change(key, value)));
        return submit(command().setAlterTopicConfigs(body), reply -> topic(topic));
    }

    @Override
    public CompletableFuture<Void> alterBrokerConfigs(Optional<Integer> broker, Map<String, Optional<String>> changes) {
        AlterBrokerConfigsCommand.Builder body = AlterBrokerConfigsCommand.newBuilder();
        broker.ifPresent(body::setBroker);
        new TreeMap<>(changes).forEach((key, value) -> body.addChanges(change(key, value)));
        return submitVoid(command().setAlterBrokerConfigs(body));
    }

    @Override
    public CompletableFuture<SegmentDescriptor> allocateSegment(
            PartitionId partition, int epoch, long startOffset, Set<BookieId> avoid) {
        AllocateSegmentCommand.Builder body = AllocateSegmentCommand.newBuilder()
                .setPartition(ProtoModel.toProto(partition))
                .setEpoch(epoch)
                .setStartOffset(startOffset);
        avoid.forEach(bookie -> body.addAvoid(bookie.value()));
        return submit(command().setAllocateSegment(body), reply -> allocated(reply.getSegment()));
    }

    private SegmentDescriptor allocated(long id) {
        return view().segment(new SegmentId(id))
                .orElseThrow(() -> new MetadataException(Reason.STALE_EPOCH, "Segment " + id + " was dropped already"));
    }

    @Override
    public CompletableFuture<PartitionState> roll(Roll roll) {
        RollCommand.Builder body = RollCommand.newBuilder()
                .setPartition(ProtoModel.toProto(roll.partition()))
                .setEpoch(roll.epoch())
                .setOpened(roll.opened().value());
        roll.seal().ifPresent(seal -> body.setSeal(seal(seal)));
        return submit(command().setRoll(body), reply -> partition(roll.partition()));
    }

    @Override
    public CompletableFuture<PartitionState> release(
            PartitionId partition, int epoch, Optional<Seal> sealed, Optional<Integer> successor) {
        ReleaseCommand.Builder body = ReleaseCommand.newBuilder()
                .setPartition(ProtoModel.toProto(partition))
                .setEpoch(epoch);
        sealed.ifPresent(seal -> body.setSeal(seal(seal)));
        successor.ifPresent(body::setSuccessor);
        return submit(command().setRelease(body), reply -> partition(partition));
    }

    @Override
    public CompletableFuture<PartitionState> advanceLogStart(PartitionId partition, int epoch, long logStartOffset) {
        AdvanceLogStartCommand.Builder body = AdvanceLogStartCommand.newBuilder()
                .setPartition(ProtoModel.toProto(partition))
                .setEpoch(epoch)
                .setLogStartOffset(logStartOffset);
        return submit(command().setAdvanceLogStart(body), reply -> partition(partition));
    }

    @Override
    public CompletableFuture<SegmentDescriptor> allocateRewrite(
            PartitionId partition, int epoch, List<SegmentId> inputs, Set<BookieId> avoid) {
        AllocateRewriteCommand.Builder body = AllocateRewriteCommand.newBuilder()
                .setPartition(ProtoModel.toProto(partition))
                .setEpoch(epoch);
        inputs.forEach(input -> body.addInputs(input.value()));
        avoid.forEach(bookie -> body.addAvoid(bookie.value()));
        return submit(command().setAllocateRewrite(body), reply -> allocated(reply.getSegment()));
    }

    @Override
    public CompletableFuture<PartitionState> replaceSegments(
            PartitionId partition, int epoch, Seal seal, List<SegmentId> inputs, long compactedEnd) {
        ReplaceSegmentsCommand.Builder body = ReplaceSegmentsCommand.newBuilder()
                .setPartition(ProtoModel.toProto(partition))
                .setEpoch(epoch)
                .setSeal(seal(seal))
                .setCompactedEnd(compactedEnd);
        inputs.forEach(input -> body.addInputs(input.value()));
        return submit(command().setReplaceSegments(body), reply -> partition(partition));
    }

    @Override
    public CompletableFuture<ProducerIdBlock> allocateProducerIds() {
        return submit(
                command().setAllocateProducerIds(AllocateProducerIdsCommand.getDefaultInstance()),
                reply -> new ProducerIdBlock(
                        reply.getProducerIds().getFirst(),
                        reply.getProducerIds().getCount()));
    }

    @Override
    public CompletableFuture<Void> commitOffload(long taskId, ObjectRef object) {
        return submitVoid(command()
                .setCommitOffload(
                        CommitOffloadCommand.newBuilder().setTask(taskId).setObject(ProtoModel.toProto(object))));
    }

    @Override
    public CompletableFuture<Void> commitManifest(
            long taskId, Optional<ManifestRef> manifest, List<String> superseded) {
        CommitManifestCommand.Builder body =
                CommitManifestCommand.newBuilder().setTask(taskId).addAllSuperseded(superseded);
        manifest.ifPresent(m -> body.setManifest(ProtoModel.toProto(m)));
        return submitVoid(command().setCommitManifest(body));
    }

    @Override
    public CompletableFuture<Void> failTask(long taskId, String reason, boolean leftNothing) {
        return submitVoid(command()
                .setFailTask(FailTaskCommand.newBuilder()
                        .setTask(taskId)
                        .setReason(shortened(reason))
                        .setLeftNothing(leftNothing)));
    }

    @Override
    public CompletableFuture<Void> reportStuck(long taskId, String reason) {
        return submitVoid(command()
                .setReportStuckTask(
                        ReportStuckTaskCommand.newBuilder().setTask(taskId).setReason(shortened(reason))));
    }

    @Override
    public CompletableFuture<Void> completeTask(long taskId) {
        return submitVoid(
                command().setCompleteTask(CompleteTaskCommand.newBuilder().setTask(taskId)));
    }

    @Override
    public CompletableFuture<Void> confirmReplica(SegmentId segment, BookieId bookie) {
        return submitVoid(command()
                .setConfirmReplica(ConfirmReplicaCommand.newBuilder()
                        .setSegment(segment.value())
                        .setBookie(bookie.value())));
    }

    @Override
    public CompletableFuture<Void> reportLostReplica(SegmentId segment, BookieId bookie, String reason) {
        return submitVoid(command()
                .setReportLostReplica(ReportLostReplicaCommand.newBuilder()
                        .setSegment(segment.value())
                        .setBookie(bookie.value())
                        .setReason(shortened(reason))));
    }

    @Override
    public CompletableFuture<Void> setBrokerState(int broker, BrokerInfo.State state) {
        return submitVoid(command()
                .setSetBrokerState(
                        SetBrokerStateCommand.newBuilder().setId(broker).setState(ProtoModel.toProto(state))));
    }

    @Override
    public CompletableFuture<Void> setBookieState(BookieId bookie, BookieInfo.State state) {
        return submitVoid(command()
                .setSetBookieState(
                        SetBookieStateCommand.newBuilder().setId(bookie.value()).setState(ProtoModel.toProto(state))));
    }

    @Override
    public CompletableFuture<Void> removeBookie(BookieId bookie) {
        return submitVoid(
                command().setRemoveBookie(RemoveBookieCommand.newBuilder().setId(bookie.value())));
    }

    /** A command without a body yet. */
    protected static MetadataCommand.Builder command() {
        return MetadataCommand.newBuilder();
    }

    /** Submits a command whose answer is only that it was done. */
    protected final CompletableFuture<Void> submitVoid(MetadataCommand.Builder command) {
        return submit(command, reply -> null);
    }

    /** Submits a command and makes its answer of what came back and of the view. */
    protected final <T> CompletableFuture<T> submit(
            MetadataCommand.Builder command, Function<CommandReply, T> toAnswer) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        submit(command).whenComplete((reply, trouble) -> {
            if (trouble != null) {
                answer.completeExceptionally(trouble);
                return;
            }
            try {
                answer.complete(toAnswer.apply(reply));
            } catch (MetadataException gone) {
                answer.completeExceptionally(gone);
            }
        });
        return answer;
    }

    /** What a rejection in an answer is for the caller; empty if it is none. */
    protected static Optional<MetadataException> rejectionIn(CommandReply reply) {
        if (!reply.hasRejection()) {
            return Optional.empty();
        }
        Reason reason = Reason.INVALID;
        for (Reason known : Reason.values()) {
            if (known.name().equals(reply.getRejection().getReason())) {
                reason = known;
            }
        }
        return Optional.of(new MetadataException(reason, reply.getRejection().getMessage()));
    }

    private Topic topic(TopicId id) {
        MetadataView now = view();
        return now.topic(id).orElseThrow(() -> new MetadataException(Reason.NOT_FOUND, "No topic with id " + id));
    }

    private PartitionState partition(PartitionId id) {
        return view().partition(id).orElseThrow(() -> new MetadataException(Reason.NOT_FOUND, "No partition " + id));
    }

    private static ConfigChangeProto change(String key, Optional<String> value) {
        ConfigChangeProto.Builder change = ConfigChangeProto.newBuilder().setKey(key);
        value.ifPresent(change::setValue);
        return change.build();
    }

    private static SealProto seal(Seal seal) {
        SealProto.Builder proto = SealProto.newBuilder()
                .setSegment(seal.segment().value())
                .setEndOffset(seal.endOffset())
                .setBytes(seal.bytes())
                .setMaxTimestampMs(seal.maxTimestampMs());
        seal.holders().forEach(holder -> proto.addHolders(holder.value()));
        return proto.build();
    }

    private static String shortened(String reason) {
        return reason.length() <= REASON_LENGTH_MAX ? reason : reason.substring(0, REASON_LENGTH_MAX);
    }
}
