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
import java.util.TreeMap;
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

    /** Kafka's rule where object storage is a tier (KIP-405): what is kept locally is part of what is kept. */
    @Test
    void localRetentionIsNoMoreThanRetention() {
        String week = "604800000";
        cluster.refused(cluster.createTopic("t", 1, 1, "local.retention.ms", "604800001"), Reason.INVALID_CONFIG);
        cluster.refused(cluster.createTopic("t", 1, 1, "local.retention.ms", "-1"), Reason.INVALID_CONFIG);
        cluster.refused(
                cluster.createTopic("t", 1, 1, "retention.bytes", "10", "local.retention.bytes", "11"),
                Reason.INVALID_CONFIG);
        cluster.refused(
                cluster.createTopic("t", 1, 1, "retention.bytes", "10", "local.retention.bytes", "-1"),
                Reason.INVALID_CONFIG);
        cluster.topic("equal", 1, 1, "local.retention.ms", week);
        cluster.topic("following", 1, 1, "retention.ms", "5", "local.retention.ms", "-2");
        cluster.topic("forever", 1, 1, "retention.ms", "-1", "local.retention.ms", "-1");
        cluster.topic("untiered", 1, 1, "local.retention.ms", "-1", "remote.storage.enable", "false");
        cluster.topic("compacted", 1, 1, "local.retention.ms", "-1", "cleanup.policy", "compact");
        cluster.refused(
                cluster.createTopic("both", 1, 1, "local.retention.ms", "-1", "cleanup.policy", "compact,delete"),
                Reason.INVALID_CONFIG);
    }

    @Test
    void noChangeBringsLocalRetentionAboveRetention() {
        TopicId id = cluster.topic("t", 1, 1, "retention.ms", "-1", "local.retention.ms", "700000000");
        cluster.refused(alter(id, "retention.ms", null), Reason.INVALID_CONFIG);
        cluster.refused(alter(id, "retention.ms", "699999999"), Reason.INVALID_CONFIG);
        cluster.done(alter(id, "retention.ms", "700000000"));
        cluster.refused(alter(id, "local.retention.ms", "-1"), Reason.INVALID_CONFIG);
        cluster.done(alter(id, "local.retention.ms", null));
        cluster.done(alter(id, "retention.ms", "1"));

        TopicId untiered = cluster.topic("u", 1, 1, "local.retention.ms", "-1", "remote.storage.enable", "false");
        cluster.refused(alter(untiered, "remote.storage.enable", null), Reason.INVALID_CONFIG);
        TopicId compacted = cluster.topic("c", 1, 1, "local.retention.ms", "-1", "cleanup.policy", "compact");
        cluster.refused(alter(compacted, "cleanup.policy", "compact,delete"), Reason.INVALID_CONFIG);
    }

    @Test
    void theClustersDefaultsCountForTopicsAndAreHeldToTheSame() {
        cluster.done(alterCluster("log.local.retention.ms", "3600000"));
        cluster.refused(cluster.createTopic("t", 1, 1, "retention.ms", "60000"), Reason.INVALID_CONFIG);
        cluster.topic("t", 1, 1, "retention.ms", "60000", "local.retention.ms", "-2");
        cluster.refused(alterCluster("log.retention.ms", "60000"), Reason.INVALID_CONFIG);
        cluster.refused(alterCluster("log.local.retention.ms", "-1"), Reason.INVALID_CONFIG);
        cluster.done(alterCluster("log.retention.ms", "3600000"));
    }

    /** Such topics were made before there was the rule. */
    @Test
    void aTopicThatKeepsMoreLocallyThanInAllIsLoadedAndCanBeChangedInAllElse() {
        TopicId id = cluster.topic("t", 1, 1, "retention.ms", "-1", "local.retention.ms", "700000000");
        Topic made = topic(id);
        TreeMap<String, String> configs = new TreeMap<>(made.configs());
        configs.put("retention.ms", "5");
        Topic before = new Topic(id, made.name(), 1, 1, made.acks(), configs);
        SnapshotReplay replay = new SnapshotReplay();
        ImageRecords.stream(cluster.image())
                .map(record -> record.hasTopic()
                        ? record.toBuilder()
                                .setTopic(ProtoModel.toProto(before))
                                .build()
                        : record)
                .forEach(replay::add);
        Cluster loaded = new Cluster(replay.finish(cluster.image().version(), 0));
        assertThat(loaded.image().topic(id)).contains(before);

        loaded.done(alter(id, "segment.bytes", "65536"));
        loaded.done(alter(id, "retention.ms", "5"));
        loaded.refused(alter(id, "retention.ms", "6"), Reason.INVALID_CONFIG);
        loaded.done(alter(id, "local.retention.ms", "5"));
        loaded.refused(alter(id, "local.retention.ms", "700000000"), Reason.INVALID_CONFIG);
    }
}
