package io.varve.metadata.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.BookieId;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataClient.BookieRegistration;
import io.varve.metadata.api.MetadataException;
import io.varve.metadata.model.Topic;
import io.varve.metadata.testing.MetadataCluster;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;

/** Keeps giving a metadata service commands that would show if one of them were lost or carried out twice, and remembers what was answered. Used by one thread, beside its own. */
final class MetadataLoad implements AutoCloseable {

    private final MetadataClient client;
    private final AtomicBoolean stop = new AtomicBoolean();
    private final List<String> created = Collections.synchronizedList(new ArrayList<>());
    private final TreeSet<Long> producerIds = new TreeSet<>();
    private final List<Throwable> refused = new ArrayList<>();
    private int unknown;
    private final Thread thread;

    MetadataLoad(MetadataClient client, String prefix) {
        this.client = client;
        this.thread = new Thread(() -> run(prefix), "load-" + prefix);
        thread.start();
    }

    private void run(String prefix) {
        for (int i = 0; !stop.get(); i++) {
            String name = prefix + i;
            CompletableFuture<Topic> topic = client.createTopic(name, 1, 1, Map.of());
            CompletableFuture<MetadataClient.ProducerIdBlock> ids = client.allocateProducerIds();
            try {
                topic.join();
                created.add(name);
                if (!producerIds.add(ids.join().first())) {
                    refused.add(new AssertionError("producer ids given twice"));
                }
            } catch (CompletionException failed) {
                if (failed.getCause() instanceof MetadataException known
                        && known.reason() == MetadataException.Reason.UNKNOWN_OUTCOME) {
                    unknown++;
                } else {
                    refused.add(failed.getCause());
                    stop.set(true);
                }
            }
        }
    }

    void stop() throws InterruptedException {
        close();
        thread.join(60_000);
        assertThat(thread.isAlive()).isFalse();
    }

    /** Sends nothing more. */
    @Override
    public void close() {
        stop.set(true);
    }

    /** How many topics were created so far. */
    int created() {
        return created.size();
    }

    /** Their names. */
    List<String> names() {
        return List.copyOf(created);
    }

    /** Once it has stopped: nothing answered is missing, and nothing is there that nobody asked for but {@code others}. */
    void check(MetadataCluster cluster, String... others) {
        assertThat(refused).as("nothing is refused that nobody else asked for").isEmpty();
        assertThat(created).isNotEmpty();
        MetadataClient fresh = cluster.client();
        var view = fresh.linearizable().join();
        assertThat(created).allSatisfy(name -> assertThat(view.topic(name)).isPresent());
        assertThat(view.topics().size()).isBetween(created() + others.length, created() + unknown + others.length);
        assertThat(cluster.faults()).isEmpty();
    }

    /** Registers a bookie of which nobody has to know more than that it takes replicas. */
    static void registerBookie(MetadataClient client) {
        client.registerBookie(new BookieRegistration(
                        new BookieId(1), 1, List.of(101L), "", "localhost", 9001, 1 << 30, 1 << 30))
                .join();
    }
}
