package io.varve.metadata.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.metadata.api.MetadataException.Reason;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.ObjectKeys;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.meta.AdvanceLogStartCommand;
import io.varve.protocol.meta.AllocateRewriteCommand;
import io.varve.protocol.meta.AllocateSegmentCommand;
import io.varve.protocol.meta.AlterBrokerConfigsCommand;
import io.varve.protocol.meta.AlterTopicConfigsCommand;
import io.varve.protocol.meta.CommandReply;
import io.varve.protocol.meta.CommitOffloadCommand;
import io.varve.protocol.meta.CompleteTaskCommand;
import io.varve.protocol.meta.ConfigChangeProto;
import io.varve.protocol.meta.ConfigEntryProto;
import io.varve.protocol.meta.CreateTopicCommand;
import io.varve.protocol.meta.ExpireSessionCommand;
import io.varve.protocol.meta.FormClusterCommand;
import io.varve.protocol.meta.MetadataCommand;
import io.varve.protocol.meta.MetadataRecord;
import io.varve.protocol.meta.PlanCommand;
import io.varve.protocol.meta.RegisterBookieCommand;
import io.varve.protocol.meta.RegisterBrokerCommand;
import io.varve.protocol.meta.ReleaseCommand;
import io.varve.protocol.meta.ReplaceSegmentsCommand;
import io.varve.protocol.meta.RollCommand;
import io.varve.protocol.meta.SealProto;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

/** A state machine with the commands that tests give it, and a time that they move. */
final class Cluster {

    static final long START_MS = 1_700_000_000_000L;

    final MetadataStateMachine machine;
    final List<MetadataRecord> records = new ArrayList<>();
    PlannerSettings settings = PlannerSettings.DEFAULT;
    Plan.Cursor cursor = Plan.Cursor.START;
    long nowMs = START_MS;
    long seed = 42;
    BiConsumer<MetadataCommand, MetadataStateMachine.Applied> onApplied = (command, applied) -> {};
    private long index;
    private long nextTopic = 1;

    /** One that has begun. */
    Cluster(MetadataImage image) {
        machine = new MetadataStateMachine(image, CommandHistory.EMPTY);
        index = image.version();
    }

    Cluster() {
        this((command, applied) -> {});
    }

    /** @param onApplied is told of every command from the first on */
    Cluster(BiConsumer<MetadataCommand, MetadataStateMachine.Applied> onApplied) {
        this(MetadataImage.EMPTY);
        this.onApplied = onApplied;
        done(MetadataCommand.newBuilder()
                .setFormCluster(
                        FormClusterCommand.newBuilder().setClusterId("c").setFeatureLevel(FeatureLevels.LATEST)));
    }

    /** With {@code bookies} bookies from 1 on, and broker 1. */
    static Cluster of(int bookies) {
        Cluster cluster = new Cluster();
        for (int id = 1; id <= bookies; id++) {
            cluster.bookie(id, "", 1_000L + id);
        }
        cluster.broker(1);
        return cluster;
    }

    MetadataImage image() {
        return machine.image();
    }

    void clusterConfig(String key, String value) {
        done(MetadataCommand.newBuilder()
                .setAlterBrokerConfigs(AlterBrokerConfigsCommand.newBuilder()
                        .addChanges(ConfigChangeProto.newBuilder().setKey(key).setValue(value))));
    }

    void topicConfig(TopicId topic, String key, String value) {
        done(MetadataCommand.newBuilder()
                .setAlterTopicConfigs(AlterTopicConfigsCommand.newBuilder()
                        .setId(ProtoModel.toProto(topic))
                        .addChanges(ConfigChangeProto.newBuilder().setKey(key).setValue(value))));
    }

    CommandReply apply(MetadataCommand.Builder builder) {
        MetadataCommand command = builder.setNowMs(nowMs).setSeed(seed++).build();
        MetadataStateMachine.Applied applied = machine.apply(++index, command);
        onApplied.accept(command, applied);
        records.addAll(applied.records());
        return applied.reply();
    }

    CommandReply done(MetadataCommand.Builder command) {
        CommandReply reply = apply(command);
        assertThat(reply.hasRejection()).as(reply.getRejection().getMessage()).isFalse();
        return reply;
    }

    void refused(MetadataCommand.Builder command, Reason reason) {
        MetadataImage before = image();
        CommandReply reply = apply(command);
        assertThat(reply.getRejection().getReason()).isEqualTo(reason.name());
        assertThat(image()).as("a rejected command changes nothing").isSameAs(before);
    }

    void broker(int id) {
        broker(id, 100 + id);
    }

    void broker(int id, long incarnation) {
        done(registerBroker(id, incarnation, false));
    }

    static MetadataCommand.Builder registerBroker(int id, long incarnation, boolean replace) {
        BrokerInfo broker = new BrokerInfo(id, incarnation, "", List.of(), BrokerInfo.State.LIVE);
        return MetadataCommand.newBuilder()
                .setRegisterBroker(RegisterBrokerCommand.newBuilder()
                        .setBroker(ProtoModel.toProto(broker))
                        .setReplace(replace));
    }

    void bookie(int id, String rack, Long... directories) {
        done(registerBookie(id, 200 + id, rack, true, directories));
    }

    static MetadataCommand.Builder registerBookie(
            int id, long session, String rack, boolean replace, Long... directories) {
        BookieInfo bookie = new BookieInfo(
                new BookieId(id),
                session,
                List.of(directories),
                rack,
                "host" + id,
                9000,
                BookieInfo.State.WRITABLE,
                1 << 30,
                1 << 30,
                -1);
        return MetadataCommand.newBuilder()
                .setRegisterBookie(RegisterBookieCommand.newBuilder()
                        .setBookie(ProtoModel.toProto(bookie))
                        .setReplace(replace));
    }

    void expireBroker(int id) {
        long incarnation = image().broker(id).orElseThrow().incarnation();
        done(MetadataCommand.newBuilder()
                .setExpireSession(
                        ExpireSessionCommand.newBuilder().setBroker(id).setSessionId(incarnation)));
    }

    void expireBookie(int id) {
        long session = image().bookie(new BookieId(id)).orElseThrow().sessionId();
        done(MetadataCommand.newBuilder()
                .setExpireSession(
                        ExpireSessionCommand.newBuilder().setBookie(id).setSessionId(session)));
    }

    TopicId topic(String name, int partitions, int replicas, String... configs) {
        return ProtoModel.fromProto(
                done(createTopic(name, partitions, replicas, configs)).getTopic());
    }

    MetadataCommand.Builder createTopic(String name, int partitions, int replicas, String... configs) {
        CreateTopicCommand.Builder body = CreateTopicCommand.newBuilder()
                .setName(name)
                .setId(ProtoModel.toProto(new TopicId(7, nextTopic++)))
                .setPartitions(partitions)
                .setReplicas(replicas);
        for (int i = 0; i < configs.length; i += 2) {
            body.addConfigs(ConfigEntryProto.newBuilder().setKey(configs[i]).setValue(configs[i + 1]));
        }
        return MetadataCommand.newBuilder().setCreateTopic(body);
    }

    PartitionState partition(PartitionId id) {
        return image().partition(id).orElseThrow();
    }

    SegmentDescriptor segment(SegmentId id) {
        return image().segment(id).orElseThrow();
    }

    static MetadataCommand.Builder allocate(PartitionId partition, int epoch, Integer... avoid) {
        return MetadataCommand.newBuilder()
                .setAllocateSegment(AllocateSegmentCommand.newBuilder()
                        .setPartition(ProtoModel.toProto(partition))
                        .setEpoch(epoch)
                        .addAllAvoid(List.of(avoid)));
    }

    SegmentDescriptor allocated(PartitionId partition) {
        CommandReply reply = done(allocate(partition, partition(partition).epoch()));
        return segment(new SegmentId(reply.getSegment()));
    }

    static SealProto.Builder seal(SegmentDescriptor segment, long endOffset, int... holders) {
        SealProto.Builder seal = SealProto.newBuilder()
                .setSegment(segment.id().value())
                .setEndOffset(endOffset)
                .setBytes(1_000)
                .setMaxTimestampMs(-1);
        if (holders.length == 0) {
            segment.replicas().forEach(r -> seal.addHolders(r.bookie().value()));
        }
        for (int holder : holders) {
            seal.addHolders(holder);
        }
        return seal;
    }

    static MetadataCommand.Builder roll(PartitionId partition, int epoch, SealProto.Builder seal, SegmentId opened) {
        RollCommand.Builder body = RollCommand.newBuilder()
                .setPartition(ProtoModel.toProto(partition))
                .setEpoch(epoch)
                .setOpened(opened.value());
        if (seal != null) {
            body.setSeal(seal);
        }
        return MetadataCommand.newBuilder().setRoll(body);
    }

    /** Opens the first segment, or seals the open one at {@code endOffset} and opens the next; answers the open one. */
    SegmentDescriptor rolled(PartitionId partition, long endOffset, int... holders) {
        PartitionState before = partition(partition);
        SealProto.Builder seal = before.chain()
                .open()
                .map(open -> seal(open, endOffset, holders))
                .orElse(null);
        SegmentDescriptor next = allocated(partition);
        done(roll(partition, before.epoch(), seal, next.id()));
        return segment(next.id());
    }

    static MetadataCommand.Builder release(PartitionId partition, int epoch, SealProto.Builder seal) {
        ReleaseCommand.Builder body = ReleaseCommand.newBuilder()
                .setPartition(ProtoModel.toProto(partition))
                .setEpoch(epoch);
        if (seal != null) {
            body.setSeal(seal);
        }
        return MetadataCommand.newBuilder().setRelease(body);
    }

    static MetadataCommand.Builder allocateRewrite(PartitionId partition, int epoch, List<SegmentDescriptor> inputs) {
        AllocateRewriteCommand.Builder body = AllocateRewriteCommand.newBuilder()
                .setPartition(ProtoModel.toProto(partition))
                .setEpoch(epoch);
        inputs.forEach(input -> body.addInputs(input.id().value()));
        return MetadataCommand.newBuilder().setAllocateRewrite(body);
    }

    static MetadataCommand.Builder replace(
            PartitionId partition, int epoch, SealProto.Builder seal, List<SegmentDescriptor> inputs) {
        return replace(partition, epoch, seal, inputs, 0);
    }

    /** @param compactedEnd 0 for the rewrite's end */
    static MetadataCommand.Builder replace(
            PartitionId partition,
            int epoch,
            SealProto.Builder seal,
            List<SegmentDescriptor> inputs,
            long compactedEnd) {
        ReplaceSegmentsCommand.Builder body = ReplaceSegmentsCommand.newBuilder()
                .setPartition(ProtoModel.toProto(partition))
                .setEpoch(epoch)
                .setSeal(seal)
                .setCompactedEnd(compactedEnd);
        inputs.forEach(input -> body.addInputs(input.id().value()));
        return MetadataCommand.newBuilder().setReplaceSegments(body);
    }

    static MetadataCommand.Builder advance(PartitionId partition, int epoch, long offset) {
        return MetadataCommand.newBuilder()
                .setAdvanceLogStart(AdvanceLogStartCommand.newBuilder()
                        .setPartition(ProtoModel.toProto(partition))
                        .setEpoch(epoch)
                        .setLogStartOffset(offset));
    }

    /** Lets the planners look until they have nothing to propose. */
    void plan() {
        for (int looks = 0; looks < 50; looks++) {
            if (planOnce() == 0) {
                return;
            }
        }
        throw new AssertionError("The planners never come to rest");
    }

    int planOnce() {
        Plan plan = Planner.plan(image(), nowMs, settings, cursor);
        cursor = plan.next();
        if (!plan.steps().isEmpty()) {
            done(MetadataCommand.newBuilder().setPlan(PlanCommand.newBuilder().addAllSteps(plan.steps())));
        }
        return plan.steps().size();
    }

    <T extends BookieTask> List<T> tasks(Class<T> type) {
        return image().tasks().stream().filter(type::isInstance).map(type::cast).toList();
    }

    void complete(BookieTask task) {
        done(MetadataCommand.newBuilder()
                .setCompleteTask(CompleteTaskCommand.newBuilder().setTask(task.taskId())));
    }

    /** The object that an offload would make. */
    ObjectRef objectOf(BookieTask.Offload offload) {
        SegmentDescriptor first = segment(offload.segments().get(0));
        SegmentDescriptor last =
                segment(offload.segments().get(offload.segments().size() - 1));
        String key =
                ObjectKeys.segment(image().clusterId(), offload.partition(), first.startOffset(), offload.taskId());
        return new ObjectRef(key, offload.taskId(), 500, 1, first.startOffset(), last.endOffset(), -1);
    }

    static MetadataCommand.Builder commit(BookieTask.Offload offload, ObjectRef object) {
        return MetadataCommand.newBuilder()
                .setCommitOffload(CommitOffloadCommand.newBuilder()
                        .setTask(offload.taskId())
                        .setObject(ProtoModel.toProto(object)));
    }

    /** Has every offload that is given out succeed. */
    void offloadAll() {
        plan();
        for (BookieTask.Offload offload : tasks(BookieTask.Offload.class)) {
            done(commit(offload, objectOf(offload)));
        }
    }

    /** The one partition of a new topic with three replicas. */
    PartitionId newPartition(String... configs) {
        return new PartitionId(topic("t", 1, 3, configs), 0);
    }

    /** {@code count} sealed segments of ten offsets and a thousand bytes each, and the open one. */
    List<SegmentDescriptor> sealed(PartitionId partition, int count) {
        rolled(partition, 0);
        for (int i = 1; i <= count; i++) {
            rolled(partition, i * 10L);
        }
        return partition(partition).chain().segments().stream().limit(count).toList();
    }
}
