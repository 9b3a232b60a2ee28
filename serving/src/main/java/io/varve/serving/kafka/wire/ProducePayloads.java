package io.varve.serving.kafka.wire;

import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.ProduceRequestData;

/** What a Produce request carries, partition by partition. */
public final class ProducePayloads {

    private ProducePayloads() {}

    /** @param request whose body is a Produce request's */
    public static List<TopicPayload> of(ParsedRequest request) {
        ProduceRequestData data = (ProduceRequestData) request.body().data();
        Iterator<ByteBuf> records = request.records().iterator();
        List<TopicPayload> topics = new ArrayList<>(data.topicData().size());
        for (ProduceRequestData.TopicProduceData topic : data.topicData()) {
            List<PartitionPayload> partitions =
                    new ArrayList<>(topic.partitionData().size());
            for (ProduceRequestData.PartitionProduceData partition : topic.partitionData()) {
                partitions.add(
                        new PartitionPayload(partition.index(), partition.records() == null ? null : records.next()));
            }
            topics.add(new TopicPayload(topic.name(), topic.topicId(), partitions));
        }
        return topics;
    }

    /**
     * @param name of the topic, empty from version 13 on
     * @param topicId of the topic, zero before version 13
     */
    public record TopicPayload(String name, Uuid topicId, List<PartitionPayload> partitions) {}

    /**
     * @param index of the partition
     * @param records a slice of the request's frame without a reference of its own, or {@code null}
     */
    public record PartitionPayload(int index, ByteBuf records) {}
}
