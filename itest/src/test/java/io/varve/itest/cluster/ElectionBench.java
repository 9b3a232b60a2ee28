package io.varve.itest.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.metadata.client.MetadataStatus;
import io.varve.metadata.client.RemoteMetadataClient;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * What the time-out of elections costs and saves (decision 0089): how long commands wait when the leader is killed, and how often a leader that only gets too little of the processor is replaced for nothing. Not a part of the normal run:
 *
 * <pre>./mvnw -pl itest -am verify -Dtest=ElectionBench -Dit.test=None -Dvarve.bench=true -Dvarve.bench.election.ms=1000</pre>
 */
@Timeout(900)
@EnabledIfSystemProperty(named = "varve.bench", matches = "true")
class ElectionBench {

    private static final String ELECTION_MS = System.getProperty("varve.bench.election.ms", "1000");
    private static final int KILLS = Integer.getInteger("varve.bench.kills", 20);
    private static final long LOAD_SECONDS = Long.getLong("varve.bench.load.seconds", 180);
    private static final int BUSY_PER_PROCESSOR = Integer.getInteger("varve.bench.busy.per.processor", 1);
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @TempDir
    Path directory;

    private int topics;

    private MetadataProcesses nodes() throws IOException {
        return new MetadataProcesses(directory)
                .with("metadata.election.timeout.ms", ELECTION_MS)
                .start(1, 2, 3);
    }

    /** Carries out one command and answers how long that took, in milliseconds from {@code startNs}. */
    private long commandMs(RemoteMetadataClient client, long startNs) throws Exception {
        client.createTopic("t" + topics++, 1, 1, Map.of()).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
    }

    @Test
    void fromTheKillOfALeaderToTheFirstCommand() throws Exception {
        try (MetadataProcesses nodes = nodes()) {
            RemoteMetadataClient client = nodes.client(1, 2, 3);
            CommandLoad.registerBookie(client);
            List<Long> waitsMs = new ArrayList<>();
            for (int kill = 0; kill < KILLS; kill++) {
                commandMs(client, System.nanoTime());
                int leader = MetadataProcesses.status(client).leaderId();
                long startNs = System.nanoTime();
                nodes.process(leader).killWithoutWaiting();
                waitsMs.add(commandMs(client, startNs));
                nodes.process(leader).kill();
                ProcessCluster.awaitReady(nodes.launch(leader, List.of(1, 2, 3)));
            }
            assertThat(waitsMs).hasSize(KILLS);
            System.out.println("elections after " + ELECTION_MS + " ms: from the kill to the first command, " + KILLS
                    + " times: " + spread(waitsMs));
        }
    }

    @Test
    void electionsWhileEveryProcessorIsBusy() throws Exception {
        try (MetadataProcesses nodes = nodes()) {
            RemoteMetadataClient client = nodes.client(1, 2, 3);
            CommandLoad.registerBookie(client);
            commandMs(client, System.nanoTime());
            MetadataStatus before = MetadataProcesses.status(client);
            List<Long> waitsMs = new ArrayList<>();
            List<Process> busy = new ArrayList<>();
            try {
                for (int i = 0; i < BUSY_PER_PROCESSOR * Runtime.getRuntime().availableProcessors(); i++) {
                    busy.add(new ProcessBuilder("sh", "-c", "while :; do :; done").start());
                }
                long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(LOAD_SECONDS);
                while (System.nanoTime() - endNs < 0) {
                    waitsMs.add(commandMs(client, System.nanoTime()));
                }
            } finally {
                busy.forEach(Process::destroyForcibly);
            }
            MetadataStatus after = MetadataProcesses.status(client);
            assertThat(after.term()).isGreaterThanOrEqualTo(before.term());
            System.out.println("elections after " + ELECTION_MS + " ms: " + (after.term() - before.term())
                    + " terms more in " + LOAD_SECONDS + " s with " + busy.size() + " busy loops on "
                    + Runtime.getRuntime().availableProcessors() + " processors; commands: " + spread(waitsMs));
        }
    }

    private static String spread(List<Long> valuesMs) {
        List<Long> sorted = new ArrayList<>(valuesMs);
        Collections.sort(sorted);
        int last = sorted.size() - 1;
        return "least " + sorted.get(0) + ", median " + sorted.get(last / 2) + ", 90% " + sorted.get(last * 9 / 10)
                + ", worst " + sorted.get(last) + " ms, of " + sorted.size();
    }
}
