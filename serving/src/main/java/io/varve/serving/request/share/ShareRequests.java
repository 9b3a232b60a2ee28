package io.varve.serving.request.share;

import io.varve.serving.core.share.Acknowledgement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.ShareAcknowledgeRequestData;
import org.apache.kafka.common.message.ShareFetchRequestData;

/** What ShareFetch and ShareAcknowledge say of partitions, in one form. */
final class ShareRequests {

    /** A member's id is one of Kafka's in base 64, or something as short. */
    private static final int MEMBER_ID_LENGTH_MAX = 36;

    private ShareRequests() {}

    /** A partition as it is named. */
    record Key(Uuid topic, int partition) {}

    /** Whether the request says who asks. */
    static boolean namesMember(String group, String member) {
        return group != null
                && !group.isEmpty()
                && member != null
                && !member.isEmpty()
                && member.length() <= MEMBER_ID_LENGTH_MAX;
    }

    /** The partitions that are named, with what is said of their records; nothing for those that are only to be read. */
    static Map<Key, List<Acknowledgement>> partitions(ShareFetchRequestData data) {
        Map<Key, List<Acknowledgement>> partitions = new LinkedHashMap<>();
        for (ShareFetchRequestData.FetchTopic topic : data.topics()) {
            for (ShareFetchRequestData.FetchPartition partition : topic.partitions()) {
                List<Acknowledgement> said = new ArrayList<>();
                for (ShareFetchRequestData.AcknowledgementBatch batch : partition.acknowledgementBatches()) {
                    said.add(new Acknowledgement(batch.firstOffset(), batch.lastOffset(), batch.acknowledgeTypes()));
                }
                partitions.put(new Key(topic.topicId(), partition.partitionIndex()), said);
            }
        }
        return partitions;
    }

    /** Those that are to be read no longer. */
    static List<Key> forgotten(ShareFetchRequestData data) {
        List<Key> forgotten = new ArrayList<>();
        for (ShareFetchRequestData.ForgottenTopic topic : data.forgottenTopicsData()) {
            topic.partitions().forEach(partition -> forgotten.add(new Key(topic.topicId(), partition)));
        }
        return forgotten;
    }

    /** The same of a ShareAcknowledge. */
    static Map<Key, List<Acknowledgement>> partitions(ShareAcknowledgeRequestData data) {
        Map<Key, List<Acknowledgement>> partitions = new LinkedHashMap<>();
        for (ShareAcknowledgeRequestData.AcknowledgeTopic topic : data.topics()) {
            for (ShareAcknowledgeRequestData.AcknowledgePartition partition : topic.partitions()) {
                List<Acknowledgement> said = new ArrayList<>();
                for (ShareAcknowledgeRequestData.AcknowledgementBatch batch : partition.acknowledgementBatches()) {
                    said.add(new Acknowledgement(batch.firstOffset(), batch.lastOffset(), batch.acknowledgeTypes()));
                }
                partitions.put(new Key(topic.topicId(), partition.partitionIndex()), said);
            }
        }
        return partitions;
    }
}
