package io.varve.itest.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.BookieId;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataClient.BookieRegistration;
import io.varve.metadata.api.MetadataException;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.Topic;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Keeps giving the metadata service commands that would show if one of them were lost or carried out twice: topics whose names nobody else takes, and blocks of producer ids. Remembers what was answered.
 */
final class CommandLoad {

    /** Rare enough to leave the processors to what the test is about. */
    private static final long STEADY_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(5);

    /** A configuration that takes any text. */
    private static final String WIDE_KEY = "leader.replication.throttled.replicas";

    private static final int WIDE_BYTES = 16_000;

    private final MetadataClient client;
    private final String prefix;
    private final Map<String, String> configs;
    private final long pauseNs;
    private final ConcurrentLinkedQueue<String> created = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Long> producerIds = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Throwable> refused = new ConcurrentLinkedQueue<>();
    private final AtomicInteger unknown = new AtomicInteger();
    private final Thread thread;
    private volatile boolean stopping;

    private CommandLoad(MetadataClient client, String prefix, Map<String, String> configs, long pauseNs) {
        this.client = client;
        this.prefix = prefix;
        this.configs = configs;
        this.pauseNs = pauseNs;
        this.thread = new Thread(this::run, "command-load-" + prefix);
        thread.setDaemon(true);
    }

    /** Begins, with the next command as soon as one was answered; registers a bookie first, without which no topic can be created. */
    static CommandLoad start(MetadataClient client, String prefix) {
        return start(client, prefix, Map.of(), 0);
    }

    /** {@link #start}, with a pause after each command. */
    static CommandLoad startSteady(MetadataClient client, String prefix) {
        return start(client, prefix, Map.of(), STEADY_PAUSE_NS);
    }

    /** {@link #startSteady}, with commands that fill a log soon. */
    static CommandLoad startWide(MetadataClient client, String prefix) {
        return start(client, prefix, Map.of(WIDE_KEY, "0:1,".repeat(WIDE_BYTES / 4) + "0:1"), STEADY_PAUSE_NS);
    }

    private static CommandLoad start(MetadataClient client, String prefix, Map<String, String> configs, long pauseNs) {
        registerBookie(client);
        CommandLoad load = new CommandLoad(client, prefix, configs, pauseNs);
        load.thread.start();
        return load;
    }

    /** Registers a bookie of which nobody has to know more than that it takes replicas. */
    static void registerBookie(MetadataClient client) {
        client.registerBookie(new BookieRegistration(
                        new BookieId(1), 1, List.of(101L), "", "localhost", 9001, 1 << 30, 1 << 30))
                .join();
    }

    private void run() {
        for (int i = 0; !stopping; i++) {
            CompletableFuture<Topic> topic = client.createTopic(prefix + i, 1, 1, configs);
            CompletableFuture<MetadataClient.ProducerIdBlock> ids = client.allocateProducerIds();
            if (ended(topic)) {
                created.add(prefix + i);
            }
            if (ended(ids)) {
                producerIds.add(ids.join().first());
            }
            LockSupport.parkNanos(pauseNs);
        }
    }

    private boolean ended(CompletableFuture<?> command) {
        try {
            command.join();
            return true;
        } catch (CompletionException failed) {
            MetadataException.Reason reason =
                    failed.getCause() instanceof MetadataException known ? known.reason() : null;
            if (reason == MetadataException.Reason.UNKNOWN_OUTCOME) {
                unknown.incrementAndGet();
            } else if (reason != MetadataException.Reason.UNAVAILABLE) {
                refused.add(failed.getCause());
                stopping = true;
            }
            return false;
        }
    }

    /** How many topics were created so far. */
    int created() {
        return created.size();
    }

    /** Waits until so many more were created. */
    void awaitMore(int count, Duration patience) {
        int before = created();
        Await.until(
                count + " more commands carried out",
                patience,
                () -> created() - before + " carried out, of " + unknown + " the outcome is unknown, refused "
                        + refused,
                () -> created() >= before + count || !refused.isEmpty());
        assertThat(refused).isEmpty();
    }

    /** Ends it, and waits for what is under way. */
    CommandLoad stop() throws InterruptedException {
        stopping = true;
        thread.join(TimeUnit.MINUTES.toMillis(1));
        assertThat(thread.isAlive()).isFalse();
        return this;
    }

    /** Nothing answered is missing in {@code view}, nothing is there twice or that nobody asked for, and nothing was refused that could not be. */
    void check(MetadataView view) {
        assertThat(refused).as("a name taken is a command carried out twice").isEmpty();
        assertThat(created).isNotEmpty();
        assertThat(created).allSatisfy(name -> assertThat(view.topic(name)).isPresent());
        long there = view.topics().stream()
                .filter(topic -> topic.name().startsWith(prefix))
                .count();
        assertThat(there).isBetween((long) created.size(), (long) created.size() + unknown.get());
        assertThat(new TreeSet<>(producerIds)).as("producer ids given once").hasSameSizeAs(producerIds);
    }
}
