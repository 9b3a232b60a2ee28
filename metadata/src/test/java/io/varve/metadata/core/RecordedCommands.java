package io.varve.metadata.core;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.Topic;
import io.varve.protocol.meta.AllocateProducerIdsCommand;
import io.varve.protocol.meta.AlterBrokerConfigsCommand;
import io.varve.protocol.meta.AlterTopicConfigsCommand;
import io.varve.protocol.meta.BrokerStateProto;
import io.varve.protocol.meta.ConfigChangeProto;
import io.varve.protocol.meta.CreatePartitionsCommand;
import io.varve.protocol.meta.DropReplicaStep;
import io.varve.protocol.meta.ForgetClientStep;
import io.varve.protocol.meta.MetadataCommand;
import io.varve.protocol.meta.MoveStep;
import io.varve.protocol.meta.PlanCommand;
import io.varve.protocol.meta.PlanStep;
import io.varve.protocol.meta.RemoveBookieCommand;
import io.varve.protocol.meta.ReportStuckTaskCommand;
import io.varve.protocol.meta.SetBrokerStateCommand;
import java.util.ArrayList;
import java.util.List;

/** The commands that are recorded: those of simulations, with their refusals and their late ones, and what those have no use for. */
final class RecordedCommands {

    private static final long SEED = 20_261_130;
    private static final int CLUSTERS = 6;
    private static final int STEPS = 300;
    private static final long CLIENT = 77;

    private final MetadataStateMachineSimulation.Run run;
    private final Cluster cluster;

    private RecordedCommands(MetadataStateMachineSimulation.Run run) {
        this.run = run;
        this.cluster = run.cluster;
    }

    /** Those of several clusters, one after the other: each begins with the command that forms it. */
    static List<DecidedLog.Entry> make() {
        List<DecidedLog.Entry> entries = new ArrayList<>();
        for (int i = 0; i < CLUSTERS; i++) {
            Cluster cluster = new Cluster((command, applied) -> entries.add(DecidedLog.Entry.of(command, applied)));
            new RecordedCommands(new MetadataStateMachineSimulation.Run(SEED + i, cluster)).carryOut();
        }
        return entries;
    }

    private void carryOut() {
        for (int step = 0; step < STEPS; step++) {
            run.step();
            if (step % 50 == 25) {
                operate(step);
            }
        }
        run.finish();
        moveSomethingIntoAManifest();
    }

    private void moveSomethingIntoAManifest() {
        PartitionId id = new PartitionId(
                cluster.topic("manifested", 1, 1, "retention.ms", "-1", "local.retention.ms", "1000"), 0);
        ModelManifests manifests = new ModelManifests("c");
        cluster.rolled(id, 0);
        for (int i = 1; i <= 8; i++) {
            cluster.rolled(id, i * 10L);
            cluster.nowMs += 6_000;
            cluster.offloadAll();
        }
        cluster.nowMs += 61_000;
        cluster.plan();
        cluster.tasks(BookieTask.DeleteReplica.class).forEach(order -> {
            cluster.done(stuck(order.taskId()));
            cluster.complete(order);
        });
        cluster.plan();
        cluster.tasks(BookieTask.BuildManifest.class)
                .forEach(task -> cluster.done(manifests.built(task, cluster.image())));
        cluster.done(Cluster.advance(id, cluster.partition(id).epoch(), 20));
        cluster.nowMs += 61_000;
        cluster.plan();
        cluster.tasks(BookieTask.PruneManifest.class).forEach(task -> cluster.done(manifests.pruned(task)));
    }

    private static MetadataCommand.Builder stuck(long task) {
        return MetadataCommand.newBuilder()
                .setReportStuckTask(
                        ReportStuckTaskCommand.newBuilder().setTask(task).setReason("UNREADABLE: both"));
    }

    /** What operators, and clients that ask twice, do. */
    private void operate(int step) {
        cluster.clusterConfig("min.insync.replicas", step % 100 == 25 ? "1" : "2");
        cluster.apply(MetadataCommand.newBuilder()
                .setAlterBrokerConfigs(AlterBrokerConfigsCommand.newBuilder()
                        .setBroker(1)
                        .addChanges(ConfigChangeProto.newBuilder().setKey("k").setValue("v" + step))));
        for (Topic topic : List.copyOf(cluster.image().topics())) {
            cluster.topicConfig(topic.id(), "retention.bytes", Integer.toString(10_000 + step));
            cluster.apply(MetadataCommand.newBuilder()
                    .setAlterTopicConfigs(AlterTopicConfigsCommand.newBuilder()
                            .setId(ProtoModel.toProto(topic.id()))
                            .addChanges(ConfigChangeProto.newBuilder()
                                    .setKey("local.retention.bytes")
                                    .setValue("20000"))));
            cluster.apply(MetadataCommand.newBuilder()
                    .setCreatePartitions(CreatePartitionsCommand.newBuilder()
                            .setId(ProtoModel.toProto(topic.id()))
                            .setTotal(topic.partitions() + (step % 100 == 25 ? 1 : 0))));
        }
        for (int sent = 0; sent < 2; sent++) {
            cluster.apply(MetadataCommand.newBuilder()
                    .setClientId(CLIENT)
                    .setSequence(step)
                    .setAllocateProducerIds(AllocateProducerIdsCommand.getDefaultInstance()));
        }
        for (BrokerStateProto state : List.of(BrokerStateProto.BROKER_DRAINING, BrokerStateProto.BROKER_LIVE)) {
            cluster.apply(MetadataCommand.newBuilder()
                    .setSetBrokerState(
                            SetBrokerStateCommand.newBuilder().setId(1).setState(state)));
        }
        cluster.apply(MetadataCommand.newBuilder()
                .setPlan(PlanCommand.newBuilder()
                        .addSteps(PlanStep.newBuilder()
                                .setForgetClient(ForgetClientStep.newBuilder().setClientId(CLIENT)))));
        moveSomePartition();
        dropSomeReplica();
        removeSomeBookie();
    }

    private void moveSomePartition() {
        for (Topic topic : cluster.image().topics()) {
            PartitionId id = new PartitionId(topic.id(), 0);
            cluster.apply(MetadataCommand.newBuilder()
                    .setPlan(PlanCommand.newBuilder()
                            .addSteps(PlanStep.newBuilder()
                                    .setMove(MoveStep.newBuilder()
                                            .setPartition(ProtoModel.toProto(id))
                                            .setEpoch(cluster.partition(id).epoch())
                                            .setTo(1)))));
            return;
        }
    }

    private void dropSomeReplica() {
        for (Topic topic : cluster.image().topics()) {
            var segments =
                    cluster.partition(new PartitionId(topic.id(), 0)).chain().segments();
            for (var segment : List.copyOf(segments)) {
                for (var replica : segment.replicas()) {
                    cluster.apply(MetadataCommand.newBuilder()
                            .setPlan(PlanCommand.newBuilder()
                                    .addSteps(PlanStep.newBuilder()
                                            .setDropReplica(DropReplicaStep.newBuilder()
                                                    .setSegment(segment.id().value())
                                                    .setBookie(replica.bookie().value())))));
                    return;
                }
            }
        }
    }

    /** Refused as long as it lives, and if it was never there. */
    private void removeSomeBookie() {
        int beyond = cluster.image().bookies().size() + 1;
        cluster.bookie(beyond, "", 9_000L + beyond);
        for (int id : new int[] {beyond, beyond + 1}) {
            cluster.apply(remove(id));
        }
        cluster.expireBookie(beyond);
        cluster.apply(remove(beyond));
        if (cluster.image().bookie(new BookieId(beyond)).isPresent()) {
            throw new AssertionError("a bookie that holds nothing can be removed");
        }
    }

    private static MetadataCommand.Builder remove(int bookie) {
        return MetadataCommand.newBuilder()
                .setRemoveBookie(RemoveBookieCommand.newBuilder().setId(bookie));
    }
}
