package io.varve.metadata.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.TopicId;
import io.varve.metadata.api.MetadataException.Reason;
import io.varve.metadata.model.Topic;
import io.varve.protocol.meta.AlterBrokerConfigsCommand;
import io.varve.protocol.meta.AlterTopicConfigsCommand;
import io.varve.protocol.meta.ConfigChangeProto;
import io.varve.protocol.meta.CreatePartitionsCommand;
import io.varve.protocol.meta.MetadataCommand;
import org.junit.jupiter.api.Test;

class TopicCommandsTest {

    private final Cluster cluster = Cluster.of(3);

    private Topic topic(TopicId id) {
        return cluster.image().topic(id).orElseThrow();
    }

    private static MetadataCommand.Builder alter(TopicId id, String key, String value) {
        ConfigChangeProto.Builder change = ConfigChangeProto.newBuilder().setKey(key);
        if (value != null) {
            change.setValue(value);
        }
        return MetadataCommand.newBuilder()
                .setAlterTopicConfigs(AlterTopicConfigsCommand.newBuilder()
                        .setId(ProtoModel.toProto(id))
                        .addChanges(change));
    }

    private static MetadataCommand.Builder alterCluster(String key, String value) {
        return MetadataCommand.newBuilder()
                .setAlterBrokerConfigs(AlterBrokerConfigsCommand.newBuilder()
                        .addChanges(ConfigChangeProto.newBuilder().setKey(key).setValue(value)));
    }

    @Test
    void namesFollowKafkasRules() {
        cluster.refused(cluster.createTopic("", 1, 1), Reason.INVALID_TOPIC_NAME);
        cluster.refused(cluster.createTopic("..", 1, 1), Reason.INVALID_TOPIC_NAME);
        cluster.refused(cluster.createTopic("a b", 1, 1), Reason.INVALID_TOPIC_NAME);
        cluster.refused(cluster.createTopic("x".repeat(250), 1, 1), Reason.INVALID_TOPIC_NAME);
        cluster.topic("x".repeat(249), 1, 1);
        cluster.topic("a.b", 1, 1);
        cluster.refused(cluster.createTopic("a_b", 1, 1), Reason.INVALID_TOPIC_NAME);
        cluster.refused(cluster.createTopic("a.b", 1, 1), Reason.ALREADY_EXISTS);
    }

    @Test
    void numbersThatCanNotBeAreRefused() {
        cluster.refused(cluster.createTopic("t", 0, 1), Reason.INVALID_PARTITIONS);
        cluster.refused(cluster.createTopic("t", TopicCommands.PARTITIONS_MAX + 1, 1), Reason.INVALID_PARTITIONS);
        cluster.refused(cluster.createTopic("t", 1, 0), Reason.INVALID_REPLICATION_FACTOR);
        cluster.refused(cluster.createTopic("t", 1, 4), Reason.INVALID_REPLICATION_FACTOR);
    }

    @Test
    void theClustersDefaultsHoldWhereNothingIsSaid() {
        assertThat(topic(cluster.topic("a", -1, -1)))
                .extracting(Topic::partitions, Topic::replicas, Topic::acks)
                .containsExactly(1, 3, 2);
        cluster.done(alterCluster("num.partitions", "5"));
        cluster.done(alterCluster("default.replication.factor", "1"));
        assertThat(topic(cluster.topic("b", -1, -1)))
                .extracting(Topic::partitions, Topic::replicas, Topic::acks)
                .containsExactly(5, 1, 1);
    }

    @Test
    void configsAreCheckedAgainstTheSchema() {
        cluster.refused(cluster.createTopic("t", 1, 1, "no.such.key", "1"), Reason.INVALID_CONFIG);
        cluster.refused(cluster.createTopic("t", 1, 1, "retention.ms", "soon"), Reason.INVALID_CONFIG);
        cluster.refused(cluster.createTopic("t", 1, 1, "retention.ms", "-2"), Reason.INVALID_CONFIG);
        cluster.refused(cluster.createTopic("t", 1, 1, "cleanup.policy", "burn"), Reason.INVALID_CONFIG);
        TopicId id = cluster.topic("t", 1, 1, "cleanup.policy", "compact, delete");
        cluster.refused(alter(id, "segment.bytes", "big"), Reason.INVALID_CONFIG);
        cluster.done(alter(id, "segment.bytes", "65536"));
        assertThat(topic(id).configs()).containsEntry("segment.bytes", "65536");
        cluster.done(alter(id, "segment.bytes", null));
        assertThat(topic(id).configs()).doesNotContainKey("segment.bytes");
    }

    @Test
    void acknowledgementsFollowTheTopicElseTheClusterAndNeverExceedTheReplicas() {
        TopicId id = cluster.topic("t", 1, 3);
        TopicId own = cluster.topic("own", 1, 3, "min.insync.replicas", "3");
        cluster.done(alterCluster("min.insync.replicas", "1"));
        assertThat(topic(id).acks()).isEqualTo(1);
        assertThat(topic(own).acks()).isEqualTo(3);
        cluster.done(alter(id, "min.insync.replicas", "7"));
        assertThat(topic(id).acks()).isEqualTo(3);
    }

    @Test
    void partitionsOnlyGrow() {
        TopicId id = cluster.topic("t", 2, 1);
        CreatePartitionsCommand.Builder to =
                CreatePartitionsCommand.newBuilder().setId(ProtoModel.toProto(id));
        cluster.refused(MetadataCommand.newBuilder().setCreatePartitions(to.setTotal(2)), Reason.INVALID_PARTITIONS);
        cluster.done(MetadataCommand.newBuilder().setCreatePartitions(to.setTotal(5)));
        assertThat(cluster.image().partitions(id))
                .hasSize(5)
                .allSatisfy(p -> assertThat(p.owner()).isEqualTo(1));
    }
}
