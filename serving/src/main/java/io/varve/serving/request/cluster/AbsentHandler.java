package io.varve.serving.request.cluster;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.Topic;
import io.varve.serving.request.Answer;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.ClientRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.common.message.AlterPartitionReassignmentsRequestData;
import org.apache.kafka.common.message.AlterPartitionReassignmentsResponseData;
import org.apache.kafka.common.message.AlterPartitionReassignmentsResponseData.ReassignablePartitionResponse;
import org.apache.kafka.common.message.AlterPartitionReassignmentsResponseData.ReassignableTopicResponse;
import org.apache.kafka.common.message.ElectLeadersRequestData;
import org.apache.kafka.common.message.ElectLeadersResponseData;
import org.apache.kafka.common.message.ListPartitionReassignmentsResponseData;
import org.apache.kafka.common.message.SaslHandshakeResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AlterPartitionReassignmentsResponse;
import org.apache.kafka.common.requests.ElectLeadersResponse;
import org.apache.kafka.common.requests.ListPartitionReassignmentsResponse;
import org.apache.kafka.common.requests.SaslHandshakeResponse;

/**
 * Answers for what Kafka has and Varve has not: an error that says so, or the truth about a cluster in which brokers hold no replicas. Never
 * silence, never a closed connection.
 */
public final class AbsentHandler {

    private static final String NO_REPLICAS = "Brokers hold no replicas here: there is nothing to reassign.";

    private final BrokerServices broker;

    /** @param broker surroundings */
    public AbsentHandler(BrokerServices broker) {
        this.broker = broker;
    }

    /** Refuses the whole request with {@code error}, in its own format. */
    public Answer refuse(ClientRequest request, Errors error) {
        return Answer.of(request.parsed().body().getErrorResponse(0, error.exception()));
    }

    /** No listener speaks SASL. */
    public Answer saslHandshake() {
        return Answer.of(new SaslHandshakeResponse(new SaslHandshakeResponseData()
                .setErrorCode(Errors.ILLEGAL_SASL_STATE.code())
                .setMechanisms(List.of())));
    }

    /** Every partition has the owner it should have: nobody is preferred. */
    public Answer electLeaders(ClientRequest request) {
        ElectLeadersRequestData data = request.data();
        Map<String, List<Integer>> asked = new TreeMap<>();
        if (data.topicPartitions() != null) {
            data.topicPartitions().forEach(topic -> asked.put(topic.topic(), topic.partitions()));
        }
        ElectLeadersResponseData answer = new ElectLeadersResponseData();
        asked.forEach((name, partitions) -> answer.replicaElectionResults()
                .add(new ElectLeadersResponseData.ReplicaElectionResult()
                        .setTopic(name)
                        .setPartitionResult(partitions.stream()
                                .map(partition -> election(name, partition))
                                .toList())));
        return Answer.of(new ElectLeadersResponse(answer));
    }

    private ElectLeadersResponseData.PartitionResult election(String topic, int partition) {
        Errors error = isThere(topic, partition) ? Errors.ELECTION_NOT_NEEDED : Errors.UNKNOWN_TOPIC_OR_PARTITION;
        return new ElectLeadersResponseData.PartitionResult()
                .setPartitionId(partition)
                .setErrorCode(error.code())
                .setErrorMessage(error.message());
    }

    /** Nothing can be reassigned, and so no reassignment be taken back. */
    public Answer alterReassignments(ClientRequest request) {
        AlterPartitionReassignmentsRequestData data = request.data();
        List<ReassignableTopicResponse> topics = new ArrayList<>();
        for (AlterPartitionReassignmentsRequestData.ReassignableTopic topic : data.topics()) {
            topics.add(new ReassignableTopicResponse()
                    .setName(topic.name())
                    .setPartitions(topic.partitions().stream()
                            .map(partition -> reassignment(topic.name(), partition))
                            .toList()));
        }
        return Answer.of(new AlterPartitionReassignmentsResponse(
                new AlterPartitionReassignmentsResponseData().setResponses(topics)));
    }

    private ReassignablePartitionResponse reassignment(
            String topic, AlterPartitionReassignmentsRequestData.ReassignablePartition partition) {
        ReassignablePartitionResponse response =
                new ReassignablePartitionResponse().setPartitionIndex(partition.partitionIndex());
        if (!isThere(topic, partition.partitionIndex())) {
            return response.setErrorCode(Errors.UNKNOWN_TOPIC_OR_PARTITION.code())
                    .setErrorMessage(Errors.UNKNOWN_TOPIC_OR_PARTITION.message());
        }
        return partition.replicas() == null
                ? response.setErrorCode(Errors.NO_REASSIGNMENT_IN_PROGRESS.code())
                        .setErrorMessage(Errors.NO_REASSIGNMENT_IN_PROGRESS.message())
                : response.setErrorCode(Errors.POLICY_VIOLATION.code()).setErrorMessage(NO_REPLICAS);
    }

    /** None is under way. */
    public Answer listReassignments() {
        return Answer.of(new ListPartitionReassignmentsResponse(new ListPartitionReassignmentsResponseData()));
    }

    private boolean isThere(String topic, int partition) {
        MetadataView view = broker.view();
        Optional<Topic> found = view.topic(topic);
        return found.isPresent() && partition >= 0 && partition < found.get().partitions();
    }
}
