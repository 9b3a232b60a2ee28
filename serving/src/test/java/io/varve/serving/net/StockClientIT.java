package io.varve.serving.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.AlterConfigsOptions;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.errors.InvalidRequestException;
import org.apache.kafka.common.errors.ThrottlingQuotaExceededException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.quota.ClientQuotaFilter;
import org.apache.kafka.common.quota.ClientQuotaFilterComponent;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The stock Java client against the broker's network and handlers. */
@Timeout(120)
final class StockClientIT {

    private TestBroker broker;
    private Admin admin;

    @BeforeEach
    void start() {
        broker = new TestBroker();
        admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrap()));
    }

    @AfterEach
    void stop() {
        admin.close();
        broker.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "gzip", "snappy", "lz4", "zstd"})
    void everyCodecGoesInAndComesOut(String codec) throws Exception {
        create("t", 3);
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        try (KafkaProducer<String, String> producer = producer(Map.of("compression.type", codec))) {
            for (int i = 0; i < 1_000; i++) {
                ProducerRecord<String, String> record = new ProducerRecord<>("t", i % 3, "k" + i, "v" + i);
                record.headers().add("h", Integer.toString(i).getBytes(StandardCharsets.UTF_8));
                sent.add(producer.send(record));
            }
        }
        for (int i = 0; i < 1_000; i++) {
            assertThat(sent.get(i).get().offset()).isEqualTo(i / 3);
        }
        List<ConsumerRecord<String, String>> read = read("t", 3, 1_000);
        assertThat(read).hasSize(1_000).allSatisfy(record -> {
            int i = Integer.parseInt(record.key().substring(1));
            assertThat(record.value()).isEqualTo("v" + i);
            assertThat(record.partition()).isEqualTo(i % 3);
            assertThat(record.offset()).isEqualTo(i / 3);
            assertThat(record.headers().lastHeader("h").value())
                    .isEqualTo(Integer.toString(i).getBytes(StandardCharsets.UTF_8));
        });
    }

    @Test
    void aTopicIsUsableAsSoonAsItsCreationIsAnswered() throws Exception {
        try (KafkaProducer<String, String> producer = producer(Map.of("retries", "0", "enable.idempotence", "false"))) {
            for (int i = 0; i < 20; i++) {
                create("fresh-" + i, 4);
                assertThat(producer.send(new ProducerRecord<>("fresh-" + i, "k", "v"))
                                .get()
                                .offset())
                        .isZero();
            }
        }
    }

    @Test
    void aMissingTopicIsMadeOnFirstUse() throws Exception {
        try (KafkaProducer<String, String> producer = producer(Map.of())) {
            assertThat(producer.send(new ProducerRecord<>("auto", "k", "v"))
                            .get()
                            .offset())
                    .isZero();
        }
        assertThat(admin.listTopics().names().get()).contains("auto");
    }

    @Test
    void aTopicIsMadeOnceAndDescribedAndGrownAndDeleted() throws Exception {
        create("t", 2);
        assertThatThrownBy(() -> create("t", 2)).hasCauseInstanceOf(TopicExistsException.class);
        admin.createPartitions(Map.of("t", NewPartitions.increaseTo(5))).all().get();
        assertThat(admin.describeTopics(List.of("t"))
                        .allTopicNames()
                        .get()
                        .get("t")
                        .partitions())
                .hasSize(5)
                .allSatisfy(partition -> assertThat(partition.leader().id()).isEqualTo(1));
        admin.deleteTopics(List.of("t")).all().get();
        assertThat(admin.listTopics().names().get()).doesNotContain("t");
    }

    @Test
    void configurationIsDescribedAndChanged() throws Exception {
        create("t", 1);
        ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, "t");
        admin.incrementalAlterConfigs(Map.of(
                        topic,
                        List.of(
                                new AlterConfigOp(new ConfigEntry("retention.ms", "1234567"), AlterConfigOp.OpType.SET),
                                new AlterConfigOp(
                                        new ConfigEntry("cleanup.policy", "compact"), AlterConfigOp.OpType.APPEND))))
                .all()
                .get();
        var config = admin.describeConfigs(List.of(topic)).all().get().get(topic);
        assertThat(config.get("retention.ms").value()).isEqualTo("1234567");
        assertThat(config.get("retention.ms").source()).isEqualTo(ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG);
        assertThat(config.get("cleanup.policy").value()).isEqualTo("delete,compact");
        assertThat(config.get("max.message.bytes").isDefault()).isTrue();

        ConfigResource self = new ConfigResource(ConfigResource.Type.BROKER, "1");
        assertThat(admin.describeConfigs(List.of(self))
                        .all()
                        .get()
                        .get(self)
                        .get("num.partitions")
                        .value())
                .isEqualTo("1");
    }

    /** Kafka's rule where object storage is a tier (KIP-405), asked of a check as well as of a change. */
    @Test
    void whoWantsMoreKeptLocallyThanInAllIsRefused() throws Exception {
        create("t", 1);
        NewTopic made = new NewTopic("more", 1, (short) 1)
                .configs(Map.of("retention.ms", "5000", "local.retention.ms", "5001"));
        AlterConfigOp set = new AlterConfigOp(new ConfigEntry("local.retention.ms", "-1"), AlterConfigOp.OpType.SET);
        ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, "t");
        for (boolean validateOnly : new boolean[] {true, false}) {
            assertThatThrownBy(() -> admin.createTopics(
                                    List.of(made), new CreateTopicsOptions().validateOnly(validateOnly))
                            .all()
                            .get())
                    .hasCauseInstanceOf(InvalidConfigurationException.class)
                    .hasMessageContaining("it must be no more than retention.ms, which is 5000");
            assertThatThrownBy(() -> admin.incrementalAlterConfigs(
                                    Map.of(topic, List.of(set)), new AlterConfigsOptions().validateOnly(validateOnly))
                            .all()
                            .get())
                    .hasCauseInstanceOf(InvalidConfigurationException.class)
                    .hasMessageContaining("retention.ms, which is 604800000");
        }
        assertThat(admin.listTopics().names().get()).doesNotContain("more");
    }

    @Test
    void offsetsAreFoundByTimeAndRecordsDeleted() throws Exception {
        create("t", 1);
        try (KafkaProducer<String, String> producer = producer(Map.of())) {
            for (int i = 0; i < 10; i++) {
                producer.send(new ProducerRecord<>("t", 0, 1_000L + i * 100, "k", "v" + i))
                        .get();
            }
        }
        TopicPartition partition = new TopicPartition("t", 0);
        assertThat(offset(partition, OffsetSpec.earliest())).isZero();
        assertThat(offset(partition, OffsetSpec.latest())).isEqualTo(10);
        assertThat(offset(partition, OffsetSpec.forTimestamp(1_250))).isEqualTo(3);
        assertThat(offset(partition, OffsetSpec.maxTimestamp())).isEqualTo(9);
        assertThat(admin.deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(4)))
                        .lowWatermarks()
                        .get(partition)
                        .get()
                        .lowWatermark())
                .isEqualTo(4);
        assertThat(offset(partition, OffsetSpec.earliest())).isEqualTo(4);
        assertThat(read("t", 1, 6)).extracting(ConsumerRecord::offset).containsExactly(4L, 5L, 6L, 7L, 8L, 9L);
    }

    @Test
    void theClusterIsDescribed() throws Exception {
        assertThat(admin.describeCluster().nodes().get()).singleElement().satisfies(node -> {
            assertThat(node.id()).isEqualTo(1);
            assertThat(node.rack()).isEqualTo("rack-1");
        });
        assertThat(admin.describeCluster().clusterId().get()).isEqualTo("test");
        assertThat(admin.describeFeatures()
                        .featureMetadata()
                        .get()
                        .finalizedFeatures()
                        .get("transaction.version")
                        .maxVersionLevel())
                .isEqualTo((short) 2);
        create("t", 1);
        assertThat(admin.describeLogDirs(List.of(1)).allDescriptions().get().get(1))
                .hasSize(1);
    }

    @Test
    void aQuotaIsSetAndDescribedAndHeld() throws Exception {
        create("t", 1);
        ClientQuotaEntity slow = new ClientQuotaEntity(Map.of(ClientQuotaEntity.CLIENT_ID, "slow"));
        admin.alterClientQuotas(List.of(new ClientQuotaAlteration(
                        slow, List.of(new ClientQuotaAlteration.Op("producer_byte_rate", 100_000.0)))))
                .all()
                .get();
        assertThat(admin.describeClientQuotas(ClientQuotaFilter.contains(
                                List.of(ClientQuotaFilterComponent.ofEntity(ClientQuotaEntity.CLIENT_ID, "slow"))))
                        .entities()
                        .get())
                .containsExactly(Map.entry(slow, Map.of("producer_byte_rate", 100_000.0)));

        assertThat(secondsToProduce("slow", 30, 10_000)).isBetween(1.5, 20.0);
        assertThat(secondsToProduce("other", 30, 10_000)).isLessThan(1.5);
    }

    @Test
    void aGroupsConfigurationIsSetDescribedListedAndRemoved() throws Exception {
        ConfigResource group = new ConfigResource(ConfigResource.Type.GROUP, "g/1");
        String key = "consumer.session.timeout.ms";
        ConfigEntry before = describe(group).get(key);
        assertThat(before.source()).isEqualTo(ConfigEntry.ConfigSource.DEFAULT_CONFIG);
        assertThat(before.value()).isEqualTo("45000");

        alter(group, new AlterConfigOp(new ConfigEntry(key, "50000"), AlterConfigOp.OpType.SET));
        ConfigEntry set = describe(group).get(key);
        assertThat(set.value()).isEqualTo("50000");
        assertThat(set.source()).isEqualTo(ConfigEntry.ConfigSource.DYNAMIC_GROUP_CONFIG);
        assertThat(admin.listConfigResources().all().get()).contains(group);

        alter(group, new AlterConfigOp(new ConfigEntry(key, ""), AlterConfigOp.OpType.DELETE));
        assertThat(describe(group).get(key).value()).isEqualTo("45000");
        assertThat(admin.listConfigResources().all().get()).doesNotContain(group);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "consumer.session.timeout.ms=1",
                "consumer.session.timeout.ms=x",
                "no.such.key=1",
                "share.auto.offset.reset=never"
            })
    void aGroupsConfigurationIsHeldToKafkasChecks(String wrong) {
        String[] parts = wrong.split("=");
        ConfigResource group = new ConfigResource(ConfigResource.Type.GROUP, "g");
        assertThatThrownBy(() ->
                        alter(group, new AlterConfigOp(new ConfigEntry(parts[0], parts[1]), AlterConfigOp.OpType.SET)))
                .hasCauseInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining(parts[0]);
    }

    @Test
    void aSubscriptionToClientsMetricsIsSetAndDescribed() throws Exception {
        ConfigResource metrics = new ConfigResource(ConfigResource.Type.CLIENT_METRICS, "m");
        alter(metrics, new AlterConfigOp(new ConfigEntry("interval.ms", "5000"), AlterConfigOp.OpType.SET));
        assertThat(describe(metrics).get("interval.ms").value()).isEqualTo("5000");
        assertThat(admin.listConfigResources().all().get()).contains(metrics);
        assertThatThrownBy(() -> alter(
                        metrics, new AlterConfigOp(new ConfigEntry("interval.ms", "5"), AlterConfigOp.OpType.SET)))
                .hasCauseInstanceOf(InvalidRequestException.class);
    }

    @Test
    void whoMakesTooManyPartitionsIsRefusedAndMayAgainLater() throws Exception {
        ClientQuotaEntity all = new ClientQuotaEntity(java.util.Collections.singletonMap(ClientQuotaEntity.USER, null));
        quota(all, "controller_mutation_rate", 1.0);
        create("first", 13);
        try (Admin impatient = Admin.create(Map.of(
                "bootstrap.servers",
                broker.bootstrap(),
                "retries",
                "0",
                "default.api.timeout.ms",
                "1000",
                "request.timeout.ms",
                "900"))) {
            assertThatThrownBy(() -> impatient
                            .createTopics(
                                    List.of(new NewTopic("second", 1, (short) 3)),
                                    new CreateTopicsOptions().retryOnQuotaViolation(false))
                            .all()
                            .get())
                    .hasCauseInstanceOf(ThrottlingQuotaExceededException.class);
        }
        // The stock client waits as long as it is told to and asks again.
        create("second", 1);
        quota(all, "controller_mutation_rate", null);
    }

    @Test
    void whoConnectsTooOftenFromOneAddressIsKeptWaitingAndSentAway() throws Exception {
        ClientQuotaEntity address = new ClientQuotaEntity(Map.of(ClientQuotaEntity.IP, "127.0.0.1"));
        quota(address, "connection_creation_rate", 1.0);
        assertThat(admin.describeClientQuotas(ClientQuotaFilter.contains(
                                List.of(ClientQuotaFilterComponent.ofEntity(ClientQuotaEntity.IP, "127.0.0.1"))))
                        .entities()
                        .get())
                .containsExactly(Map.entry(address, Map.of("connection_creation_rate", 1.0)));
        boolean closed = false;
        for (int i = 0; i < 3 && !closed; i++) {
            try (RawClient client = new RawClient(broker.port())) {
                client.sendFrame(RawClient.frame(ApiKeys.API_VERSIONS, 0, 1, false, new byte[0]));
                client.receive();
            } catch (IOException sentAway) {
                closed = true;
            }
        }
        assertThat(closed).isTrue();
        quota(address, "connection_creation_rate", null);
    }

    private void quota(ClientQuotaEntity whom, String key, Double value) throws Exception {
        admin.alterClientQuotas(
                        List.of(new ClientQuotaAlteration(whom, List.of(new ClientQuotaAlteration.Op(key, value)))))
                .all()
                .get(30, TimeUnit.SECONDS);
    }

    private org.apache.kafka.clients.admin.Config describe(ConfigResource resource) throws Exception {
        return admin.describeConfigs(List.of(resource)).all().get().get(resource);
    }

    private void alter(ConfigResource resource, AlterConfigOp operation) throws Exception {
        admin.incrementalAlterConfigs(Map.of(resource, List.of(operation)))
                .all()
                .get();
    }

    private double secondsToProduce(String clientId, int records, int bytes) throws Exception {
        try (KafkaProducer<String, String> producer =
                producer(Map.of("client.id", clientId, "max.in.flight.requests.per.connection", "1"))) {
            producer.partitionsFor("t");
            long startNs = System.nanoTime();
            for (int i = 0; i < records; i++) {
                producer.send(new ProducerRecord<>("t", "x".repeat(bytes))).get();
            }
            return (System.nanoTime() - startNs) / 1e9;
        }
    }

    private void create(String topic, int partitions) throws Exception {
        admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 3)))
                .all()
                .get(30, TimeUnit.SECONDS);
    }

    private long offset(TopicPartition partition, OffsetSpec spec) throws Exception {
        return admin.listOffsets(Map.of(partition, spec))
                .partitionResult(partition)
                .get()
                .offset();
    }

    private KafkaProducer<String, String> producer(Map<String, String> more) {
        Map<String, Object> config = new java.util.HashMap<>(more);
        config.put("bootstrap.servers", broker.bootstrap());
        return new KafkaProducer<>(config, new StringSerializer(), new StringSerializer());
    }

    private List<ConsumerRecord<String, String>> read(String topic, int partitions, int count) {
        List<ConsumerRecord<String, String>> read = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", broker.bootstrap(), "auto.offset.reset", "earliest"),
                new StringDeserializer(),
                new StringDeserializer())) {
            List<TopicPartition> all = new ArrayList<>();
            for (int i = 0; i < partitions; i++) {
                all.add(new TopicPartition(topic, i));
            }
            consumer.assign(all);
            consumer.seekToBeginning(all);
            for (int polls = 0; read.size() < count && polls < 100; polls++) {
                consumer.poll(Duration.ofMillis(500)).forEach(read::add);
            }
        }
        return read;
    }
}
