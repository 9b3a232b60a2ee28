package io.varve.serving.kafka.group;

import static io.varve.serving.kafka.Eventually.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.varve.metadata.model.InternalTopics;
import io.varve.metadata.model.Topic;
import io.varve.serving.kafka.Contexts;
import io.varve.serving.kafka.FakeMetadata;
import io.varve.serving.kafka.metadata.KafkaImage;
import io.varve.serving.log.InMemoryPartitionLogs;
import java.util.List;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.JoinGroupResponseData;
import org.apache.kafka.common.message.LeaveGroupRequestData;
import org.apache.kafka.common.message.ListGroupsRequestData;
import org.apache.kafka.common.message.OffsetCommitRequestData;
import org.apache.kafka.common.message.OffsetCommitRequestData.OffsetCommitRequestPartition;
import org.apache.kafka.common.message.OffsetCommitRequestData.OffsetCommitRequestTopic;
import org.apache.kafka.common.message.OffsetCommitResponseData;
import org.apache.kafka.common.message.OffsetFetchRequestData;
import org.apache.kafka.common.message.OffsetFetchRequestData.OffsetFetchRequestGroup;
import org.apache.kafka.common.message.OffsetFetchRequestData.OffsetFetchRequestTopic;
import org.apache.kafka.common.message.OffsetFetchRequestData.OffsetFetchRequestTopics;
import org.apache.kafka.common.message.OffsetFetchResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The forms that requests about groups have in old and new versions, and what is answered about topics that don't exist. */
class GroupVersionsTest {

    private final FakeMetadata metadata = new FakeMetadata();
    private Topic data;
    private GroupBroker broker;

    @BeforeEach
    void startBroker() {
        metadata.addBroker(1);
        metadata.addTopic(InternalTopics.CONSUMER_OFFSETS, 1, 1);
        data = metadata.addTopic("t", 1, 1);
        InMemoryPartitionLogs logs = new InMemoryPartitionLogs();
        logs.serve(GroupBroker.partition(metadata));
        broker = new GroupBroker(1, metadata, logs);
        broker.awaitActive("g");
        assertThat(get(broker.commit("g", 5))).isEqualTo(Errors.NONE);
    }

    @AfterEach
    void stopBroker() {
        broker.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5, 7})
    void offsetsOfOneGroupAreReadInTheOldForm(int version) {
        OffsetFetchResponseData answer = get(broker.groups.offsetFetch(
                Contexts.of(ApiKeys.OFFSET_FETCH, version),
                new OffsetFetchRequestData()
                        .setGroupId("g")
                        .setTopics(List.of(
                                new OffsetFetchRequestTopic().setName("t").setPartitionIndexes(List.of(0))))));
        assertThat(answer.groups()).isEmpty();
        assertThat(answer.topics().get(0).partitions().get(0).committedOffset()).isEqualTo(5);
    }

    @Test
    void allOffsetsOfAGroupAreReadByName() {
        OffsetFetchResponseData answer = get(broker.groups.offsetFetch(
                Contexts.of(ApiKeys.OFFSET_FETCH, 9),
                new OffsetFetchRequestData()
                        .setGroups(List.of(
                                new OffsetFetchRequestGroup().setGroupId("g").setTopics(null)))));
        assertThat(answer.groups().get(0).topics().get(0).name()).isEqualTo("t");
    }

    @Test
    void topicsAreNamedByIdFromVersionTenOn() {
        Uuid known = KafkaImage.uuid(data.id());
        Uuid unknown = Uuid.randomUuid();

        OffsetCommitResponseData committed = get(broker.groups.offsetCommit(
                Contexts.of(ApiKeys.OFFSET_COMMIT, 10),
                new OffsetCommitRequestData()
                        .setGroupId("g")
                        .setGenerationIdOrMemberEpoch(-1)
                        .setTopics(List.of(commitOf(known, 0), commitOf(unknown, 0), commitOf(known, 9)))));
        OffsetFetchResponseData fetched = get(broker.groups.offsetFetch(
                Contexts.of(ApiKeys.OFFSET_FETCH, 10),
                new OffsetFetchRequestData()
                        .setGroups(List.of(new OffsetFetchRequestGroup()
                                .setGroupId("g")
                                .setTopics(List.of(fetchOf(known), fetchOf(unknown)))))));

        assertThat(committed.topics().stream()
                        .flatMap(topic -> topic.partitions().stream()
                                .map(p -> topic.topicId() + "-" + p.partitionIndex() + ":"
                                        + Errors.forCode(p.errorCode()))))
                .containsExactlyInAnyOrder(
                        known + "-0:NONE", unknown + "-0:UNKNOWN_TOPIC_ID", known + "-9:UNKNOWN_TOPIC_OR_PARTITION");
        assertThat(fetched.groups().get(0).topics().stream()
                        .map(topic -> topic.topicId() + ":"
                                + topic.partitions().get(0).committedOffset() + ":"
                                + Errors.forCode(topic.partitions().get(0).errorCode())))
                .containsExactlyInAnyOrder(known + ":8:NONE", unknown + ":-1:UNKNOWN_TOPIC_ID");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2, 3, 5})
    void aMemberLeavesInTheFormOfItsVersion(int version) {
        JoinGroupResponseData member = broker.joinAndSync("leaving");
        LeaveGroupRequestData request = new LeaveGroupRequestData().setGroupId("leaving");
        if (version < 3) {
            request.setMemberId(member.memberId());
        } else {
            request.setMembers(List.of(new LeaveGroupRequestData.MemberIdentity().setMemberId(member.memberId())));
        }
        assertThat(Errors.forCode(get(broker.groups.leaveGroup(Contexts.of(ApiKeys.LEAVE_GROUP, version), request))
                        .errorCode()))
                .isEqualTo(Errors.NONE);
        assertThat(broker.heartbeat("leaving", member)).isEqualTo(Errors.UNKNOWN_MEMBER_ID);
    }

    @Test
    void groupsAreListed() {
        broker.joinAndSync("stable");
        assertThat(get(broker.groups.listGroups(Contexts.of(ApiKeys.LIST_GROUPS), new ListGroupsRequestData()))
                        .groups())
                .extracting(group -> group.groupId() + ":" + group.groupState())
                .contains("stable:Stable", "g:Empty");
    }

    private static OffsetCommitRequestTopic commitOf(Uuid topic, int partition) {
        return new OffsetCommitRequestTopic()
                .setTopicId(topic)
                .setPartitions(List.of(new OffsetCommitRequestPartition()
                        .setPartitionIndex(partition)
                        .setCommittedOffset(8)
                        .setCommittedMetadata("")));
    }

    private static OffsetFetchRequestTopics fetchOf(Uuid topic) {
        return new OffsetFetchRequestTopics().setTopicId(topic).setPartitionIndexes(List.of(0));
    }
}
