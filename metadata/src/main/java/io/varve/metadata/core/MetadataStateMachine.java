package io.varve.metadata.core;

import io.varve.base.BookieId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.metadata.api.MetadataException.Reason;
import io.varve.protocol.meta.CommandReply;
import io.varve.protocol.meta.FormClusterCommand;
import io.varve.protocol.meta.MetadataCommand;
import io.varve.protocol.meta.MetadataRecord;
import io.varve.protocol.meta.PlanStep;
import io.varve.protocol.meta.ProducerIdBlockProto;
import io.varve.protocol.meta.RejectionProto;
import java.util.List;

/**
 * The replicated state machine: commands in the order of the log, each decided from the state and itself alone, so that all nodes come to the same records and the same state.
 * What a command changes is said in records; the image after them is what every client has as well that replays them. Used by one thread; its images may go anywhere.
 */
public final class MetadataStateMachine {

    /** How many producer ids are given out at a time. */
    static final int PRODUCER_IDS_PER_BLOCK = 1_000;

    private MetadataImage image;
    private volatile CommandHistory history;

    /**
     * Goes on from a snapshot, or from {@link MetadataImage#EMPTY}.
     *
     * @throws io.varve.base.InvariantViolation if it is of a feature level that this build doesn't know
     */
    public MetadataStateMachine(MetadataImage image, CommandHistory history) {
        FeatureLevels.requireKnown(image.featureLevel());
        this.image = image;
        this.history = history;
    }

    /**
     * How a command ended.
     *
     * @param records what it changed; empty if it was rejected or had been carried out before
     */
    public record Applied(List<MetadataRecord> records, CommandReply reply) {}

    /** The state after everything applied. */
    public MetadataImage image() {
        return image;
    }

    /** The answers given. Any thread. */
    public CommandHistory history() {
        return history;
    }

    /**
     * Carries out the command at an index of the log. If it changes something, the index becomes the image's version; if it doesn't, version and image stay.
     *
     * @param index higher than any before
     * @throws io.varve.base.InvariantViolation if this build doesn't know what it is asked for: whoever goes on would come to another state than the others
     */
    public Applied apply(long index, MetadataCommand command) {
        boolean isClients = command.getClientId() != 0;
        if (isClients) {
            CommandReply before = history.find(command).orElse(null);
            if (before != null) {
                return new Applied(List.of(), before);
            }
        }
        Draft draft = new Draft(image, command.getNowMs(), command.getSeed());
        CommandReply.Builder reply = CommandReply.newBuilder();
        List<MetadataRecord> records;
        try {
            decide(draft, command, reply);
            records = List.copyOf(draft.records());
            image = records.isEmpty() ? image : draft.image().at(index, Digest.fold(image.digest(), records));
        } catch (Rejection rejection) {
            records = List.of();
            reply.clear()
                    .setRejection(RejectionProto.newBuilder()
                            .setReason(rejection.reason().name())
                            .setMessage(rejection.getMessage()));
        }
        CommandReply answered = reply.setVersion(image.version()).build();
        if (isClients) {
            history = history.with(command, answered);
        }
        return new Applied(records, answered);
    }

    private void decide(Draft draft, MetadataCommand command, CommandReply.Builder reply) {
        switch (command.getBodyCase()) {
            case FORM_CLUSTER -> formCluster(draft, command.getFormCluster());
            case REGISTER_BROKER -> NodeCommands.register(draft, command.getRegisterBroker());
            case REGISTER_BOOKIE -> NodeCommands.register(draft, command.getRegisterBookie());
            case SET_BROKER_STATE -> NodeCommands.setState(draft, command.getSetBrokerState());
            case SET_BOOKIE_STATE -> NodeCommands.setState(draft, command.getSetBookieState());
            case EXPIRE_SESSION -> NodeCommands.expire(draft, command.getExpireSession());
            case REMOVE_BOOKIE ->
                NodeCommands.remove(
                        draft, new BookieId(command.getRemoveBookie().getId()));
            case CREATE_TOPIC ->
                reply.setTopic(ProtoModel.toProto(TopicCommands.create(draft, command.getCreateTopic())));
            case DELETE_TOPIC -> TopicCommands.delete(draft, topic(command));
            case CREATE_PARTITIONS -> TopicCommands.createPartitions(draft, command.getCreatePartitions());
            case ALTER_TOPIC_CONFIGS -> TopicCommands.alterConfigs(draft, command.getAlterTopicConfigs());
            case ALTER_BROKER_CONFIGS -> TopicCommands.alterConfigs(draft, command.getAlterBrokerConfigs());
            case ALLOCATE_SEGMENT ->
                reply.setSegment(SegmentCommands.allocate(draft, command.getAllocateSegment())
                        .value());
            case ROLL -> SegmentCommands.roll(draft, command.getRoll());
            case RELEASE -> SegmentCommands.release(draft, command.getRelease());
            case ADVANCE_LOG_START -> SegmentCommands.advanceLogStart(draft, command.getAdvanceLogStart());
            case ALLOCATE_REWRITE ->
                reply.setSegment(RewriteCommands.allocate(draft, command.getAllocateRewrite())
                        .value());
            case REPLACE_SEGMENTS -> RewriteCommands.replace(draft, command.getReplaceSegments());
            case ALLOCATE_PRODUCER_IDS -> allocateProducerIds(draft, reply);
            case COMMIT_OFFLOAD -> TaskCommands.commitOffload(draft, command.getCommitOffload());
            case COMMIT_MANIFEST -> ManifestCommands.commit(draft, command.getCommitManifest());
            case FAIL_TASK -> TaskCommands.fail(draft, command.getFailTask());
            case REPORT_STUCK_TASK ->
                TaskCommands.reportStuck(
                        draft,
                        command.getReportStuckTask().getTask(),
                        command.getReportStuckTask().getReason());
            case COMPLETE_TASK ->
                TaskCommands.complete(draft, command.getCompleteTask().getTask());
            case CONFIRM_REPLICA ->
                TaskCommands.confirm(
                        draft,
                        new SegmentId(command.getConfirmReplica().getSegment()),
                        new BookieId(command.getConfirmReplica().getBookie()));
            case REPORT_LOST_REPLICA ->
                TaskCommands.reportLost(
                        draft,
                        new SegmentId(command.getReportLostReplica().getSegment()),
                        new BookieId(command.getReportLostReplica().getBookie()));
            case PLAN -> {
                for (PlanStep step : command.getPlan().getStepsList()) {
                    PlanCommands.carryOut(draft, step);
                    if (step.hasForgetClient()) {
                        history = history.without(step.getForgetClient().getClientId());
                    }
                }
            }
            case BODY_NOT_SET -> FeatureLevels.unknown("a command");
        }
    }

    private static TopicId topic(MetadataCommand command) {
        return ProtoModel.fromProto(command.getDeleteTopic().getId());
    }

    private static void formCluster(Draft draft, FormClusterCommand command) {
        FeatureLevels.requireKnown(command.getFeatureLevel());
        if (draft.image().clusterId().isEmpty()) {
            Rejection.unless(!command.getClusterId().isBlank(), Reason.INVALID, "A cluster's id is not blank");
            draft.cluster(command.getClusterId(), command.getFeatureLevel());
        }
    }

    private static void allocateProducerIds(Draft draft, CommandReply.Builder reply) {
        long first = draft.image().counters().nextProducerId();
        draft.producerIdsUpTo(first + PRODUCER_IDS_PER_BLOCK);
        reply.setProducerIds(ProducerIdBlockProto.newBuilder().setFirst(first).setCount(PRODUCER_IDS_PER_BLOCK));
    }
}
