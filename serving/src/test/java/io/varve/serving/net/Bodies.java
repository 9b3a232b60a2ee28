package io.varve.serving.net;

import java.util.List;
import java.util.Optional;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.message.AlterConfigsRequestData;
import org.apache.kafka.common.message.AlterPartitionReassignmentsRequestData;
import org.apache.kafka.common.message.CreatePartitionsRequestData;
import org.apache.kafka.common.message.CreateTopicsRequestData;
import org.apache.kafka.common.message.DeleteRecordsRequestData;
import org.apache.kafka.common.message.DeleteTopicsRequestData;
import org.apache.kafka.common.message.DescribeClientQuotasRequestData;
import org.apache.kafka.common.message.DescribeConfigsRequestData;
import org.apache.kafka.common.message.DescribeLogDirsRequestData;
import org.apache.kafka.common.message.DescribeProducersRequestData;
import org.apache.kafka.common.message.DescribeTopicPartitionsRequestData;
import org.apache.kafka.common.message.ElectLeadersRequestData;
import org.apache.kafka.common.message.FetchRequestData;
import org.apache.kafka.common.message.IncrementalAlterConfigsRequestData;
import org.apache.kafka.common.message.ListConfigResourcesRequestData;
import org.apache.kafka.common.message.ListOffsetsRequestData;
import org.apache.kafka.common.message.MetadataRequestData;
import org.apache.kafka.common.message.OffsetForLeaderEpochRequestData;
import org.apache.kafka.common.message.ProduceRequestData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;

/** Requests about topic {@code t}, which is there, and topic {@code missing}, which isn't, in any version. */
final class Bodies {

    private static final List<String> TOPICS = List.of("t", "missing");

    private Bodies() {}

    /** Empty for APIs whose requests have nothing in them that matters here. */
    static Optional<ApiMessage> of(ApiKeys api, short version, TestBroker broker) {
        return Optional.ofNullable(
                switch (api) {
                    case PRODUCE -> produce(version, broker);
                    case FETCH -> fetch(version, broker);
                    case LIST_OFFSETS -> listOffsets();
                    case METADATA -> metadata(version, broker);
                    case CREATE_TOPICS -> createTopics(version);
                    case DELETE_TOPICS -> deleteTopics(version);
                    case CREATE_PARTITIONS -> createPartitions();
                    case DELETE_RECORDS -> deleteRecords();
                    case OFFSET_FOR_LEADER_EPOCH -> leaderEpochs();
                    case DESCRIBE_CONFIGS -> describeConfigs();
                    case ALTER_CONFIGS -> alterConfigs();
                    case INCREMENTAL_ALTER_CONFIGS -> incrementalAlterConfigs();
                    case DESCRIBE_LOG_DIRS -> new DescribeLogDirsRequestData().setTopics(null);
                    case DESCRIBE_PRODUCERS -> describeProducers();
                    case DESCRIBE_TOPIC_PARTITIONS -> describeTopicPartitions();
                    case ELECT_LEADERS -> electLeaders();
                    case ALTER_PARTITION_REASSIGNMENTS -> reassignments();
                    case LIST_CONFIG_RESOURCES -> new ListConfigResourcesRequestData();
                    case DESCRIBE_CLIENT_QUOTAS -> new DescribeClientQuotasRequestData();
                    default -> null;
                });
    }

    private static Uuid idOf(String topic, TestBroker broker) {
        return broker.cluster
                .view()
                .topic(topic)
                .map(found -> new Uuid(found.id().high(), found.id().low()))
                .orElse(new Uuid(1, 1));
    }

    private static ApiMessage produce(short version, TestBroker broker) {
        ProduceRequestData data = new ProduceRequestData().setAcks((short) -1).setTimeoutMs(1_000);
        for (String topic : TOPICS) {
            ProduceRequestData.TopicProduceData of = new ProduceRequestData.TopicProduceData();
            if (version >= 13) {
                of.setTopicId(idOf(topic, broker));
            } else {
                of.setName(topic);
            }
            of.partitionData()
                    .add(new ProduceRequestData.PartitionProduceData()
                            .setIndex(0)
                            .setRecords(MemoryRecords.withRecords(Compression.NONE, new SimpleRecord(new byte[] {1}))));
            data.topicData().add(of);
        }
        return data;
    }

    private static ApiMessage fetch(short version, TestBroker broker) {
        FetchRequestData data = new FetchRequestData().setMaxBytes(1 << 20).setMinBytes(1);
        if (version >= 15) {
            data.setReplicaState(new FetchRequestData.ReplicaState().setReplicaId(-1));
        } else {
            data.setReplicaId(-1);
        }
        for (String topic : TOPICS) {
            FetchRequestData.FetchTopic of = new FetchRequestData.FetchTopic();
            if (version >= 13) {
                of.setTopicId(idOf(topic, broker));
            } else {
                of.setTopic(topic);
            }
            for (int partition = 0; partition < 3; partition++) {
                of.partitions()
                        .add(new FetchRequestData.FetchPartition()
                                .setPartition(partition)
                                .setPartitionMaxBytes(1 << 20));
            }
            data.topics().add(of);
        }
        return data;
    }

    private static ApiMessage listOffsets() {
        ListOffsetsRequestData data = new ListOffsetsRequestData().setReplicaId(-1);
        for (String topic : TOPICS) {
            ListOffsetsRequestData.ListOffsetsTopic of = new ListOffsetsRequestData.ListOffsetsTopic().setName(topic);
            for (long time : new long[] {-1, -2, 0}) {
                of.partitions()
                        .add(new ListOffsetsRequestData.ListOffsetsPartition()
                                .setPartitionIndex(0)
                                .setTimestamp(time));
            }
            data.topics().add(of);
        }
        return data;
    }

    private static ApiMessage metadata(short version, TestBroker broker) {
        MetadataRequestData data = new MetadataRequestData();
        if (version >= 4) {
            data.setAllowAutoTopicCreation(false);
        }
        for (String topic : List.of("t", "not a name")) {
            data.topics().add(new MetadataRequestData.MetadataRequestTopic().setName(topic));
        }
        if (version >= 12) {
            data.topics()
                    .add(new MetadataRequestData.MetadataRequestTopic()
                            .setName(null)
                            .setTopicId(idOf("missing", broker)));
        }
        return data;
    }

    private static ApiMessage createTopics(short version) {
        CreateTopicsRequestData data =
                new CreateTopicsRequestData().setTimeoutMs(5_000).setValidateOnly(version % 2 == 0);
        for (String topic : List.of("t", "made-by-" + version, "not a name")) {
            data.topics()
                    .add(new CreateTopicsRequestData.CreatableTopic()
                            .setName(topic)
                            .setNumPartitions(1)
                            .setReplicationFactor((short) 1));
        }
        return data;
    }

    private static ApiMessage deleteTopics(short version) {
        DeleteTopicsRequestData data = new DeleteTopicsRequestData().setTimeoutMs(5_000);
        if (version >= 6) {
            data.topics().add(new DeleteTopicsRequestData.DeleteTopicState().setName("missing"));
            data.topics()
                    .add(new DeleteTopicsRequestData.DeleteTopicState()
                            .setName(null)
                            .setTopicId(new Uuid(1, 1)));
        } else {
            data.setTopicNames(List.of("missing"));
        }
        return data;
    }

    private static ApiMessage createPartitions() {
        CreatePartitionsRequestData data =
                new CreatePartitionsRequestData().setTimeoutMs(5_000).setValidateOnly(true);
        for (String topic : TOPICS) {
            data.topics()
                    .add(new CreatePartitionsRequestData.CreatePartitionsTopic()
                            .setName(topic)
                            .setCount(3)
                            .setAssignments(null));
        }
        return data;
    }

    private static ApiMessage deleteRecords() {
        DeleteRecordsRequestData data = new DeleteRecordsRequestData().setTimeoutMs(5_000);
        for (String topic : TOPICS) {
            data.topics()
                    .add(new DeleteRecordsRequestData.DeleteRecordsTopic()
                            .setName(topic)
                            .setPartitions(List.of(new DeleteRecordsRequestData.DeleteRecordsPartition()
                                    .setPartitionIndex(1)
                                    .setOffset(0))));
        }
        return data;
    }

    private static ApiMessage leaderEpochs() {
        OffsetForLeaderEpochRequestData data = new OffsetForLeaderEpochRequestData();
        for (String topic : TOPICS) {
            data.topics()
                    .add(new OffsetForLeaderEpochRequestData.OffsetForLeaderTopic()
                            .setTopic(topic)
                            .setPartitions(List.of(new OffsetForLeaderEpochRequestData.OffsetForLeaderPartition()
                                    .setPartition(0)
                                    .setLeaderEpoch(0))));
        }
        return data;
    }

    private static ApiMessage describeConfigs() {
        DescribeConfigsRequestData data = new DescribeConfigsRequestData().setIncludeSynonyms(true);
        for (String topic : TOPICS) {
            data.resources()
                    .add(new DescribeConfigsRequestData.DescribeConfigsResource()
                            .setResourceType((byte) 2)
                            .setResourceName(topic)
                            .setConfigurationKeys(null));
        }
        for (String broker : List.of("1", "2", "")) {
            data.resources()
                    .add(new DescribeConfigsRequestData.DescribeConfigsResource()
                            .setResourceType((byte) 4)
                            .setResourceName(broker)
                            .setConfigurationKeys(null));
        }
        data.resources()
                .add(new DescribeConfigsRequestData.DescribeConfigsResource()
                        .setResourceType((byte) 8)
                        .setResourceName("1")
                        .setConfigurationKeys(null));
        return data;
    }

    private static ApiMessage alterConfigs() {
        AlterConfigsRequestData data = new AlterConfigsRequestData().setValidateOnly(true);
        for (String topic : TOPICS) {
            AlterConfigsRequestData.AlterConfigsResource of = new AlterConfigsRequestData.AlterConfigsResource()
                    .setResourceType((byte) 2)
                    .setResourceName(topic);
            of.configs()
                    .add(new AlterConfigsRequestData.AlterableConfig()
                            .setName("retention.ms")
                            .setValue("1"));
            data.resources().add(of);
        }
        return data;
    }

    private static ApiMessage incrementalAlterConfigs() {
        IncrementalAlterConfigsRequestData data = new IncrementalAlterConfigsRequestData().setValidateOnly(true);
        for (String topic : TOPICS) {
            IncrementalAlterConfigsRequestData.AlterConfigsResource of =
                    new IncrementalAlterConfigsRequestData.AlterConfigsResource()
                            .setResourceType((byte) 2)
                            .setResourceName(topic);
            of.configs()
                    .add(new IncrementalAlterConfigsRequestData.AlterableConfig()
                            .setName("no.such.key")
                            .setValue("1"));
            data.resources().add(of);
        }
        return data;
    }

    private static ApiMessage describeProducers() {
        DescribeProducersRequestData data = new DescribeProducersRequestData();
        for (String topic : TOPICS) {
            data.topics()
                    .add(new DescribeProducersRequestData.TopicRequest()
                            .setName(topic)
                            .setPartitionIndexes(List.of(0, 9)));
        }
        return data;
    }

    private static ApiMessage describeTopicPartitions() {
        DescribeTopicPartitionsRequestData data = new DescribeTopicPartitionsRequestData().setResponsePartitionLimit(1);
        for (String topic : TOPICS) {
            data.topics().add(new DescribeTopicPartitionsRequestData.TopicRequest().setName(topic));
        }
        return data;
    }

    private static ApiMessage electLeaders() {
        ElectLeadersRequestData data = new ElectLeadersRequestData();
        for (String topic : TOPICS) {
            data.topicPartitions()
                    .add(new ElectLeadersRequestData.TopicPartitions()
                            .setTopic(topic)
                            .setPartitions(List.of(0)));
        }
        return data;
    }

    private static ApiMessage reassignments() {
        AlterPartitionReassignmentsRequestData data = new AlterPartitionReassignmentsRequestData();
        for (String topic : TOPICS) {
            data.topics()
                    .add(new AlterPartitionReassignmentsRequestData.ReassignableTopic()
                            .setName(topic)
                            .setPartitions(List.of(
                                    new AlterPartitionReassignmentsRequestData.ReassignablePartition()
                                            .setPartitionIndex(0)
                                            .setReplicas(List.of(1)),
                                    new AlterPartitionReassignmentsRequestData.ReassignablePartition()
                                            .setPartitionIndex(1)
                                            .setReplicas(null))));
        }
        return data;
    }
}
