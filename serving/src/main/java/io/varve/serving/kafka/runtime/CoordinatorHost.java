package io.varve.serving.kafka.runtime;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.Topic;
import io.varve.serving.kafka.metadata.KafkaImage;
import io.varve.serving.kafka.metadata.MetadataFeed;
import io.varve.serving.log.PartitionLogs;
import java.util.Optional;
import java.util.OptionalInt;
import org.apache.kafka.common.metrics.Metrics;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs one of Kafka's coordinator services over the partitions of its internal topic. It is started when that topic is first seen, by however
 * many partitions it really has, and not by what this broker would have created it with: two brokers that disagree on a key's partition would
 * both coordinate it.
 *
 * <p>{@link #onView} is called by the metadata feed's thread alone; everything else is safe for any thread.
 *
 * <p>Design note: Kafka's services for groups and for share groups have their life in common, but no type that says so. What is theirs alone is
 * in the subclasses, which hold no state of a life.
 *
 * @param <S> Kafka's service
 */
public abstract class CoordinatorHost<S> implements MetadataFeed.Sink, Elections, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(CoordinatorHost.class);

    private final String topic;
    private final LogWriter.Verifier verifier;
    private final CoordinatorOptions options;
    private final PartitionLogs logs;
    private final KafkaImage image = new KafkaImage();
    private final Metrics metrics = new Metrics();

    private volatile S service;
    private volatile boolean closed;

    /**
     * @param topic the internal topic's name
     * @param verifier of the transactional writes to it
     */
    protected CoordinatorHost(
            String topic, LogWriter.Verifier verifier, CoordinatorOptions options, PartitionLogs logs) {
        this.topic = topic;
        this.verifier = verifier;
        this.options = options;
        this.logs = logs;
    }

    /** A service that writes by {@code writer}, not yet started. */
    protected abstract S build(LogWriter writer, Metrics metrics);

    /** Starts it for so many partitions. */
    protected abstract void startUp(S built, int partitions);

    /** Tells it what changed. May block. */
    protected abstract void tell(S running, KafkaImage.Change change);

    /** Has it coordinate a partition. */
    protected abstract void elect(S running, int partition, int tenure);

    /** Has it coordinate a partition no more. */
    protected abstract void resign(S running, int partition, OptionalInt nextTenure);

    /** Stops it; what waits is answered with NOT_COORDINATOR. */
    protected abstract void shutDown(S running);

    /** Called with each view that a running service is told of, before it is told. */
    protected void beforeTelling(MetadataView view) {}

    /** Kafka's service, once there is anything to coordinate. */
    public final Optional<S> coordinator() {
        return closed ? Optional.empty() : Optional.ofNullable(service);
    }

    @Override
    public final void onView(MetadataView view) {
        if (service != null) {
            feed(view);
            return;
        }
        Optional<Topic> found = view.topic(topic);
        if (found.isPresent() && !closed) {
            start(found.get(), view);
        }
    }

    private void feed(MetadataView view) {
        S running = service;
        beforeTelling(view);
        image.advance(view).ifPresent(change -> tell(running, change));
    }

    private void start(Topic found, MetadataView view) {
        TenureKeeper keeper = new TenureKeeper(found.id(), found.name(), this);
        S built = build(new LogWriter(keeper, verifier, options.batchBytesMax()), metrics);
        startUp(built, found.partitions());
        service = built;
        LOG.info("event=coordinator_started topic={} partitions={}", topic, found.partitions());
        feed(view);
        logs.subscribe(keeper);
    }

    @Override
    public final void onElection(int partition, int tenure) {
        if (!closed) {
            elect(service, partition, tenure);
        }
    }

    @Override
    public final void onResignation(int partition, int nextTenure) {
        if (!closed) {
            resign(service, partition, OptionalInt.of(nextTenure));
        }
    }

    @Override
    public final void close() {
        closed = true;
        S running = service;
        if (running != null) {
            shutDown(running);
        }
        metrics.close();
    }
}
