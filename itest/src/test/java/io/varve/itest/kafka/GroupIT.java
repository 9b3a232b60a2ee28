package io.varve.itest.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.itest.cluster.AckLog;
import io.varve.itest.cluster.Await;
import io.varve.itest.cluster.ClusterShape;
import io.varve.itest.cluster.Clusters;
import io.varve.itest.cluster.NumberedProducer;
import io.varve.itest.cluster.ProcessCluster;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Clients of three kinds share a group: kafka-clients of this build, kafka-clients 3.9, and kcat where the machine has it. */
class GroupIT {

    private static final String TOPIC = "shared";
    private static final String GROUP = "readers";
    private static final int PARTITIONS = 8;
    private static final int RECORDS = 20_000;
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    private final List<GroupProcess> members = new ArrayList<>();

    @Test
    void everyRecordIsDeliveredOnceThroughALeaveAJoinAndARestartOfEverything() throws Exception {
        ProcessCluster cluster = clusters.start(ClusterShape.of(1, 3, 2));
        cluster.createTopic(TOPIC, PARTITIONS, Map.of());
        Path logs = clusters.directory();
        String bootstrap = cluster.bootstrap();
        Deliveries deliveries = new Deliveries();
        AckLog acks = new AckLog(PARTITIONS);
        try {
            joined(GroupProcess.currentJava("java-4.4", bootstrap, GROUP, TOPIC, logs, deliveries));
            GroupProcess older = joined(GroupProcess.olderJava("java-3.9", bootstrap, GROUP, TOPIC, logs, deliveries));
            Optional<GroupProcess> kcat = GroupProcess.kcat("kcat", bootstrap, GROUP, TOPIC, logs, deliveries);
            if (kcat.isPresent()) {
                joined(kcat.get());
            } else {
                System.out.println("SKIPPED in part: no kcat on this machine, so it is not in the group");
            }

            try (NumberedProducer producer = new NumberedProducer(bootstrap, TOPIC, 100, acks, PATIENCE)) {
                producer.start(1, RECORDS, 2_000);
                Await.until(
                        "a quarter delivered",
                        PATIENCE,
                        () -> deliveries.count() + " of " + RECORDS,
                        () -> deliveries.count() >= RECORDS / 4);
                older.leave(PATIENCE);
                Await.until(
                        "half delivered",
                        PATIENCE,
                        () -> deliveries.count() + " of " + RECORDS,
                        () -> deliveries.count() >= RECORDS / 2);
                joined(GroupProcess.olderJava("java-3.9-again", bootstrap, GROUP, TOPIC, logs, deliveries));
                producer.done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                assertThat(producer.failure()).isNull();
            }
            Await.until(
                    "all delivered",
                    PATIENCE,
                    () -> deliveries.count() + " of " + RECORDS,
                    () -> deliveries.count() == RECORDS);
            for (GroupProcess member : members) {
                member.leave(PATIENCE);
            }
            assertThat(deliveries.again()).as("records delivered twice").isEmpty();

            cluster.killAll();
            cluster.startAll();

            GroupProcess after =
                    joined(GroupProcess.currentJava("java-after", bootstrap, GROUP, TOPIC, logs, deliveries));
            try (NumberedProducer producer = new NumberedProducer(bootstrap, TOPIC, 100, acks, PATIENCE)) {
                producer.start(RECORDS + 1, 800, 0);
                producer.done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                assertThat(producer.failure()).isNull();
            }
            Await.until(
                    "what was written after the restart",
                    PATIENCE,
                    () -> deliveries.count() + " of " + (RECORDS + 800),
                    () -> deliveries.count() == RECORDS + 800);
            after.leave(PATIENCE);
            assertThat(deliveries.again()).as("records delivered twice").isEmpty();
            for (int partition = 0; partition < PARTITIONS; partition++) {
                assertThat(deliveries.contains(partition, acks.end(partition) - 1))
                        .isTrue();
            }
        } finally {
            members.forEach(GroupProcess::close);
        }
    }

    private GroupProcess joined(GroupProcess member) throws Exception {
        members.add(member);
        member.awaitAssigned(PATIENCE);
        return member;
    }
}
