package io.varve.serving.kafka.runtime;

import static io.varve.serving.kafka.Eventually.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.varve.metadata.model.InternalTopics;
import io.varve.serving.kafka.Contexts;
import io.varve.serving.kafka.FakeMetadata;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.kafka.common.message.FindCoordinatorRequestData;
import org.apache.kafka.common.message.FindCoordinatorResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.utils.Utils;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** User reports T8, C12: the coordinator that is named is the one that accepts. */
class CoordinatorFinderTest {

    private static final byte GROUP = 0;
    private static final byte TRANSACTION = 1;

    /** Its hash is the minimum int, whose absolute value is negative. */
    private static final String MINIMUM_HASH = "polygenelubricants";

    private final FakeMetadata metadata = new FakeMetadata();
    private final CoordinatorFinder finder = new CoordinatorFinder(metadata.client(), CoordinatorOptions.defaults(1));

    @BeforeEach
    void addBroker() {
        metadata.addBroker(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void theFirstSearchCreatesTheTopicAndIsAnswered(int version) {
        FindCoordinatorResponseData answer = single(version, GROUP, "g");

        assertThat(Errors.forCode(answer.errorCode())).isEqualTo(Errors.NONE);
        assertThat(answer.nodeId()).isEqualTo(1);
        assertThat(answer.host()).isEqualTo("broker-1");
        assertThat(answer.port()).isEqualTo(9092);
        assertThat(metadata.view()
                        .topic(InternalTopics.CONSUMER_OFFSETS)
                        .orElseThrow()
                        .partitions())
                .isEqualTo(50);
        assertThat(metadata.view().topic(InternalTopics.TRANSACTION_STATE)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {4, 5, 6})
    void batchesNameTheOwnerOfEachKeysPartition(int version) {
        metadata.addTopic(InternalTopics.TRANSACTION_STATE, 50, 1);
        metadata.addBroker(2);
        var partition = finder.partitionFor(InternalTopics.TRANSACTION_STATE, "b")
                .orElseThrow()
                .id();
        metadata.move(partition, 2);

        FindCoordinatorResponseData answer = batch(version, TRANSACTION, List.of("a", "b"));

        assertThat(answer.coordinators())
                .extracting(c -> c.key() + "@" + c.nodeId())
                .containsExactly("a@1", "b@2");
    }

    @Test
    void aPartitionWithoutALivingOwnerHasNoCoordinatorNow() {
        metadata.addTopic(InternalTopics.CONSUMER_OFFSETS, 1, 7);
        FindCoordinatorResponseData answer = batch(6, GROUP, List.of("g"));
        assertThat(Errors.forCode(answer.coordinators().get(0).errorCode()))
                .isEqualTo(Errors.COORDINATOR_NOT_AVAILABLE);
        assertThat(answer.coordinators().get(0).nodeId()).isEqualTo(-1);
    }

    @Test
    void withoutAQuorumTheClientIsToldToTryAgain() {
        metadata.refuse(true);
        assertThat(Errors.forCode(single(3, GROUP, "g").errorCode())).isEqualTo(Errors.COORDINATOR_NOT_AVAILABLE);
        metadata.refuse(false);
        assertThat(Errors.forCode(single(3, GROUP, "g").errorCode())).isEqualTo(Errors.NONE);
    }

    @ParameterizedTest
    @ValueSource(bytes = {2, 3, -1})
    void whatHasNoCoordinatorIsRefused(byte type) {
        assertThat(Errors.forCode(
                        batch(6, type, List.of("k")).coordinators().get(0).errorCode()))
                .isEqualTo(Errors.INVALID_REQUEST);
    }

    /** C9.7: the topic's number of partitions counts, not what this broker would create it with, which here is 50. */
    @Test
    void keysBelongToThePartitionsThatTheTopicHasWhateverIsConfigured() {
        metadata.addTopic(InternalTopics.CONSUMER_OFFSETS, 3, 1);
        for (int i = 0; i < 100; i++) {
            String group = "group-" + i;
            assertThat(finder.partitionFor(InternalTopics.CONSUMER_OFFSETS, group)
                            .orElseThrow()
                            .id()
                            .index())
                    .isEqualTo(Utils.abs(group.hashCode()) % 3);
        }
    }

    /** C12: ten thousand ids, and the one whose hash is the minimum int, belong where Kafka's coordinator takes them. */
    @Test
    void keysBelongToThePartitionsThatKafkaSaysTheyDo() {
        assertThat(MINIMUM_HASH.hashCode()).isEqualTo(Integer.MIN_VALUE);
        assertThat(CoordinatorFinder.partitionOf(MINIMUM_HASH, 50)).isZero();
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 10_000; i++) {
            String id = Long.toHexString(random.nextLong());
            assertThat(CoordinatorFinder.partitionOf(id, 50)).isEqualTo(Utils.abs(id.hashCode()) % 50);
        }
    }

    private FindCoordinatorResponseData single(int version, byte type, String key) {
        return get(finder.find(
                Contexts.of(ApiKeys.FIND_COORDINATOR, version),
                new FindCoordinatorRequestData().setKeyType(type).setKey(key)));
    }

    private FindCoordinatorResponseData batch(int version, byte type, List<String> keys) {
        return get(finder.find(
                Contexts.of(ApiKeys.FIND_COORDINATOR, version),
                new FindCoordinatorRequestData().setKeyType(type).setCoordinatorKeys(keys)));
    }
}
