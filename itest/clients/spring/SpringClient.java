import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaAdmin;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.DeadLetterPublishingRecoverer;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.MessageListener;
import org.springframework.util.backoff.FixedBackOff;

/** Spring Kafka as its users use it: templates, listener containers, transactions, dead letters. Usage: SpringClient BOOTSTRAP */
public final class SpringClient {

    private final String bootstrap;
    private final String run = "spring-" + Long.toString(System.nanoTime(), 36);
    private int passed;
    private int failed;

    private interface Check {
        void run() throws Exception;
    }

    private SpringClient(String bootstrap) {
        this.bootstrap = bootstrap;
    }

    public static void main(String[] args) {
        System.out.println("# spring-kafka");
        SpringClient client = new SpringClient(args[0]);
        client.check("create", client::create);
        client.check("group", client::group);
        client.check("transactions", client::transactions);
        client.check("dead-letter", client::deadLetter);
        System.out.println(client.passed + " passed, " + client.failed + " failed");
        System.exit(client.failed == 0 ? 0 : 1);
    }

    private void check(String name, Check check) {
        try {
            check.run();
            passed++;
            System.out.println("PASS " + name);
        } catch (Throwable trouble) {
            failed++;
            System.out.println("FAIL " + name + ": " + trouble);
            trouble.printStackTrace(System.out);
        }
    }

    private static void expect(Object wanted, Object actual, String what) {
        if (!wanted.equals(actual)) {
            throw new AssertionError(what + ": " + actual + ", wanted " + wanted);
        }
    }

    private void create() {
        topics(run);
        expect(
                3,
                new KafkaAdmin(Map.of("bootstrap.servers", bootstrap))
                        .describeTopics(run)
                        .get(run)
                        .partitions()
                        .size(),
                "partitions");
    }

    private void group() throws Exception {
        KafkaTemplate<String, String> template = new KafkaTemplate<>(producers());
        for (int i = 0; i < 300; i++) {
            template.send(run, "k" + i, "v" + i).get(30, TimeUnit.SECONDS);
        }
        BlockingQueue<String> first = new LinkedBlockingQueue<>();
        var container = container(run, "read_uncommitted", first::add);
        container.setConcurrency(3);
        container.start();
        expect(300L, take(first, 300).stream().distinct().count(), "different records");
        container.stop();
        template.send(run, "k", "later").get(30, TimeUnit.SECONDS);
        BlockingQueue<String> second = new LinkedBlockingQueue<>();
        var after = container(run, "read_uncommitted", second::add);
        after.start();
        expect(List.of("later"), take(second, 1), "after the commit");
        expect(0, second.size(), "further records");
        after.stop();
    }

    private void transactions() throws Exception {
        String topic = run + "-transactions";
        topics(topic);
        DefaultKafkaProducerFactory<String, String> producers = producers();
        producers.setTransactionIdPrefix(run);
        KafkaTemplate<String, String> template = new KafkaTemplate<>(producers);
        for (String value : List.of("a", "rolled back", "c")) {
            try {
                template.executeInTransaction(inside -> {
                    inside.send(topic, "k", value);
                    inside.flush();
                    if (value.startsWith("rolled")) {
                        throw new IllegalStateException(value);
                    }
                    return value;
                });
            } catch (IllegalStateException rolledBack) {
                expect("rolled back", rolledBack.getMessage(), "what was thrown inside");
            }
        }
        BlockingQueue<String> committed = new LinkedBlockingQueue<>();
        var container = container(topic, "read_committed", committed::add);
        container.start();
        expect(List.of("a", "c"), take(committed, 2), "read_committed");
        container.stop();
        producers.destroy();
    }

    private void deadLetter() throws Exception {
        String topic = run + "-poison";
        topics(topic, topic + "-dlt");
        KafkaTemplate<String, String> template = new KafkaTemplate<>(producers());
        AtomicInteger tries = new AtomicInteger();
        var container = container(topic, "read_uncommitted", value -> {
            tries.incrementAndGet();
            throw new IllegalStateException("it can't be digested");
        });
        container.setCommonErrorHandler(
                new DefaultErrorHandler(new DeadLetterPublishingRecoverer(template), new FixedBackOff(50, 2)));
        BlockingQueue<String> dead = new LinkedBlockingQueue<>();
        var letters = container(topic + "-dlt", "read_uncommitted", dead::add);
        container.start();
        letters.start();
        template.send(topic, "k", "poison").get(30, TimeUnit.SECONDS);
        expect(List.of("poison"), take(dead, 1), "the dead letter");
        expect(3, tries.get(), "tries");
        container.stop();
        letters.stop();
    }

    private void topics(String... names) {
        NewTopic[] topics = new NewTopic[names.length];
        for (int i = 0; i < names.length; i++) {
            topics[i] = new NewTopic(names[i], 3, (short) -1);
        }
        new KafkaAdmin(Map.of("bootstrap.servers", bootstrap)).createOrModifyTopics(topics);
    }

    private DefaultKafkaProducerFactory<String, String> producers() {
        return new DefaultKafkaProducerFactory<>(
                new HashMap<>(Map.of("bootstrap.servers", bootstrap)), new StringSerializer(), new StringSerializer());
    }

    private interface Taker {
        void take(String value);
    }

    /** A container in the group of the topic's name, which commits each record after its listener. */
    private ConcurrentMessageListenerContainer<String, String> container(String topic, String isolation, Taker taker) {
        Map<String, Object> config = new HashMap<>(Map.of(
                "bootstrap.servers", bootstrap,
                "group.id", topic,
                "auto.offset.reset", "earliest",
                "isolation.level", isolation));
        ContainerProperties properties = new ContainerProperties(topic);
        properties.setAckMode(AckMode.RECORD);
        properties.setMessageListener((MessageListener<String, String>) record -> taker.take(record.value()));
        return new ConcurrentMessageListenerContainer<>(
                new DefaultKafkaConsumerFactory<>(config, new StringDeserializer(), new StringDeserializer()),
                properties);
    }

    private static List<String> take(BlockingQueue<String> from, int count) throws InterruptedException {
        List<String> taken = new ArrayList<>();
        while (taken.size() < count) {
            String next = from.poll(60, TimeUnit.SECONDS);
            if (next == null) {
                throw new AssertionError("only " + taken.size() + " of " + count + " came");
            }
            taken.add(next);
        }
        return taken;
    }
}
