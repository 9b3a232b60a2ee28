package io.varve.serving.kafka;

import io.varve.base.PartitionId;
import io.varve.base.TopicId;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataDelta;
import io.varve.metadata.api.MetadataException;
import io.varve.metadata.api.MetadataListener;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentChain;
import io.varve.metadata.model.Topic;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

/** The metadata that coordinators look at: topics, owners and brokers, changed at once and by the test. What they don't use is refused. */
public final class FakeMetadata {

    private final List<MetadataListener> listeners = new CopyOnWriteArrayList<>();
    private View view = new View(1, new TreeMap<>(), new TreeMap<>(), new TreeMap<>());
    private long nextProducerId = 1000;
    private boolean refusing;

    /** A broker, reached at {@code broker-<id>:9092} through PLAINTEXT. */
    public synchronized void addBroker(int id) {
        SortedMap<Integer, BrokerInfo> brokers = new TreeMap<>(view.brokerMap);
        brokers.put(
                id,
                new BrokerInfo(
                        id,
                        1,
                        "",
                        List.of(new BrokerInfo.Endpoint("PLAINTEXT", "PLAINTEXT", "broker-" + id, 9092)),
                        BrokerInfo.State.LIVE));
        change(new View(view.version + 1, view.topicMap, view.owners, brokers));
    }

    /** Creates a topic whose partitions are {@code owner}'s. */
    public synchronized Topic addTopic(String name, int partitions, int owner) {
        Topic topic = new Topic(
                new TopicId(77, view.version),
                name,
                partitions,
                3,
                2,
                Collections.unmodifiableSortedMap(new TreeMap<>()));
        SortedMap<TopicId, Topic> topics = new TreeMap<>(view.topicMap);
        topics.put(topic.id(), topic);
        SortedMap<PartitionId, Integer> owners = new TreeMap<>(view.owners);
        for (int i = 0; i < partitions; i++) {
            owners.put(new PartitionId(topic.id(), i), owner);
        }
        change(new View(view.version + 1, topics, owners, view.brokerMap));
        return topic;
    }

    /** Makes {@code owner} the owner. */
    public synchronized void move(PartitionId partition, int owner) {
        SortedMap<PartitionId, Integer> owners = new TreeMap<>(view.owners);
        owners.put(partition, owner);
        change(new View(view.version + 1, view.topicMap, owners, view.brokerMap));
    }

    /** From now on commands are refused for want of a quorum. */
    public synchronized void refuse(boolean refuse) {
        refusing = refuse;
    }

    private void change(View next) {
        View before = view;
        view = next;
        listeners.forEach(l -> l.onChange(before.port(), next.port(), everything(next)));
    }

    private static MetadataDelta everything(View view) {
        return new MetadataDelta(
                true,
                new TreeSet<>(view.topicMap.keySet()),
                new TreeSet<>(view.owners.keySet()),
                new TreeSet<>(view.brokerMap.keySet()),
                new TreeSet<>(),
                new TreeSet<>(),
                true);
    }

    public synchronized MetadataView view() {
        return view.port();
    }

    public synchronized void subscribe(MetadataListener listener) {
        listeners.add(listener);
        listener.onChange(view.port(), view.port(), everything(view));
    }

    public void unsubscribe(MetadataListener listener) {
        listeners.remove(listener);
    }

    public CompletableFuture<MetadataView> linearizable() {
        return CompletableFuture.completedFuture(view());
    }

    public synchronized CompletableFuture<Topic> createTopic(
            String name, int partitions, int replicas, Map<String, String> configs) {
        if (refusing) {
            return CompletableFuture.failedFuture(
                    new MetadataException(MetadataException.Reason.UNAVAILABLE, "no quorum"));
        }
        if (view.topic(name).isPresent()) {
            return CompletableFuture.failedFuture(
                    new MetadataException(MetadataException.Reason.ALREADY_EXISTS, name + " exists"));
        }
        return CompletableFuture.completedFuture(addTopic(name, partitions, view.brokerMap.firstKey()));
    }

    public synchronized CompletableFuture<Void> deleteTopic(TopicId topic) {
        SortedMap<TopicId, Topic> topics = new TreeMap<>(view.topicMap);
        topics.remove(topic);
        SortedMap<PartitionId, Integer> owners = new TreeMap<>(view.owners);
        owners.keySet().removeIf(p -> p.topic().equals(topic));
        change(new View(view.version + 1, topics, owners, view.brokerMap));
        return CompletableFuture.completedFuture(null);
    }

    public synchronized CompletableFuture<MetadataClient.ProducerIdBlock> allocateProducerIds() {
        if (refusing) {
            return CompletableFuture.failedFuture(
                    new MetadataException(MetadataException.Reason.UNAVAILABLE, "no quorum"));
        }
        nextProducerId += 10;
        return CompletableFuture.completedFuture(new MetadataClient.ProducerIdBlock(nextProducerId - 10, 10));
    }

    public void close() {}

    /** As the port; what the fake doesn't have is refused. */
    public MetadataClient client() {
        return proxy(MetadataClient.class, this);
    }

    private static <T> T proxy(Class<T> port, Object fake) {
        return port.cast(Proxy.newProxyInstance(
                port.getClassLoader(), new Class<?>[] {port}, (self, method, arguments) -> {
                    try {
                        return fake.getClass()
                                .getMethod(method.getName(), method.getParameterTypes())
                                .invoke(fake, arguments);
                    } catch (NoSuchMethodException e) {
                        throw new UnsupportedOperationException("coordinators don't call " + method, e);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    /** What the fake knows at one version. */
    public record View(
            long version,
            SortedMap<TopicId, Topic> topicMap,
            SortedMap<PartitionId, Integer> owners,
            SortedMap<Integer, BrokerInfo> brokerMap) {

        public String clusterId() {
            return "test";
        }

        public Collection<Topic> topics() {
            return topicMap.values();
        }

        public Optional<Topic> topic(TopicId id) {
            return Optional.ofNullable(topicMap.get(id));
        }

        public Optional<Topic> topic(String name) {
            return topicMap.values().stream().filter(t -> t.name().equals(name)).findFirst();
        }

        public Optional<PartitionState> partition(PartitionId id) {
            return Optional.ofNullable(owners.get(id))
                    .map(owner -> new PartitionState(id, owner, 0, 0, SegmentChain.EMPTY));
        }

        public Collection<PartitionState> partitions(TopicId topic) {
            List<PartitionState> found = new ArrayList<>();
            owners.keySet().stream()
                    .filter(p -> p.topic().equals(topic))
                    .forEach(p -> found.add(partition(p).orElseThrow()));
            return found;
        }

        public Collection<PartitionId> ownedBy(int broker) {
            return owners.keySet().stream().filter(p -> owners.get(p) == broker).toList();
        }

        public Collection<BrokerInfo> brokers() {
            return brokerMap.values();
        }

        public SortedMap<String, String> clusterConfigs() {
            return Collections.emptySortedMap();
        }

        MetadataView port() {
            return proxy(MetadataView.class, this);
        }
    }
}
