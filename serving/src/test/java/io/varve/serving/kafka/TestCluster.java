package io.varve.serving.kafka;

import io.varve.base.Clock;
import io.varve.base.PartitionId;
import io.varve.metadata.model.InternalTopics;
import io.varve.metadata.model.Topic;
import io.varve.serving.kafka.runtime.BrokerClient;
import io.varve.serving.kafka.runtime.CoordinatorOptions;
import io.varve.serving.log.InMemoryPartitionLog;
import io.varve.serving.log.InMemoryPartitionLogs;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.errors.DisconnectException;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.AddPartitionsToTxnRequest;
import org.apache.kafka.common.requests.AddPartitionsToTxnResponse;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.WriteTxnMarkersRequest;
import org.apache.kafka.common.requests.WriteTxnMarkersResponse;

/** Brokers with nothing but coordinators, over in-memory logs, that reach one another by calls. */
public final class TestCluster implements AutoCloseable {

    public static final Clock CLOCK = new Clock() {
        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public long wallTimeMs() {
            return System.currentTimeMillis();
        }
    };

    private static final Map<String, String> QUICK = Map.of(
            "group.initial.rebalance.delay.ms",
            "0",
            "transaction.abort.timed.out.transaction.cleanup.interval.ms",
            "50");

    public final FakeMetadata metadata = new FakeMetadata();
    private final Map<Integer, InMemoryPartitionLogs> logs = new TreeMap<>();
    private final Map<Integer, KafkaCoordinators> coordinators = new TreeMap<>();
    private final Map<Integer, Boolean> cutOff = new TreeMap<>();

    /** @param brokers with ids from 1 */
    public TestCluster(int brokers) {
        for (int id = 1; id <= brokers; id++) {
            metadata.addBroker(id);
            logs.put(id, id == 1 ? new InMemoryPartitionLogs() : logs.get(1).ofAnotherBroker());
        }
        for (int id = 1; id <= brokers; id++) {
            coordinators.put(
                    id,
                    new KafkaCoordinators(
                            new CoordinatorOptions(id, QUICK, 1, 1, 1, 1 << 20),
                            metadata.client(),
                            logs.get(id),
                            new Calls(),
                            CLOCK,
                            (where, fault) -> {
                                throw new AssertionError(where, fault);
                            }));
        }
    }

    /** A topic whose partitions are all served by {@code broker}. */
    public Topic addTopic(String name, int partitions, int broker) {
        Topic topic = metadata.addTopic(name, partitions, broker);
        for (int i = 0; i < partitions; i++) {
            logs.get(broker).serve(new PartitionId(topic.id(), i));
        }
        return topic;
    }

    /** Both internal topics with one partition each. */
    public void addInternalTopics(int offsetsAt, int transactionsAt) {
        addTopic(InternalTopics.CONSUMER_OFFSETS, 1, offsetsAt);
        addTopic(InternalTopics.TRANSACTION_STATE, 1, transactionsAt);
    }

    public KafkaCoordinators broker(int id) {
        return coordinators.get(id);
    }

    public PartitionId partition(String topic, int index) {
        return new PartitionId(metadata.view().topic(topic).orElseThrow().id(), index);
    }

    public int ownerOf(String topic, int index) {
        return metadata.view().partition(partition(topic, index)).orElseThrow().owner();
    }

    /** The log at its owner. */
    public InMemoryPartitionLog log(String topic, int index) {
        return logs.get(ownerOf(topic, index)).log(partition(topic, index));
    }

    /** Moves a partition; what isn't acknowledged is lost. */
    public void move(String topic, int index, int to) {
        PartitionId partition = partition(topic, index);
        logs.get(ownerOf(topic, index)).lose(partition);
        metadata.move(partition, to);
        logs.get(to).serve(partition);
    }

    /** Whether requests to the broker fail. */
    public void cutOff(int broker, boolean cut) {
        cutOff.put(broker, cut);
    }

    @Override
    public void close() {
        coordinators.values().forEach(KafkaCoordinators::close);
    }

    private final class Calls implements BrokerClient {
        @Override
        public CompletableFuture<AbstractResponse> send(
                int broker, AbstractRequest.Builder<? extends AbstractRequest> builder) {
            if (cutOff.getOrDefault(broker, false)) {
                return CompletableFuture.failedFuture(new DisconnectException("cut off"));
            }
            AbstractRequest request = builder.build();
            RequestContext context = Contexts.of(request.apiKey(), request.version());
            if (request instanceof WriteTxnMarkersRequest markers) {
                return broker(broker)
                        .transactions()
                        .writeTxnMarkers(context, markers.data())
                        .thenApply(WriteTxnMarkersResponse::new);
            }
            return broker(broker)
                    .transactions()
                    .addPartitionsToTxn(context, ((AddPartitionsToTxnRequest) request).data())
                    .thenApply(AddPartitionsToTxnResponse::new);
        }

        @Override
        public void close() {}
    }
}
