package io.varve.bookie.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real process under load, killed with -9 over and over ({@code -Dvarve.kill.rounds=50}): nothing that it acknowledged is missing. */
class KillStoreIT {

    private static final int ROUNDS = Integer.getInteger("varve.kill.rounds", 8);

    @TempDir
    Path directory;

    private final TreeMap<Long, Long> acknowledged = new TreeMap<>();
    private final SplittableRandom random = new SplittableRandom(11);
    private long found;

    @Test
    void nothingAcknowledgedIsMissingHoweverOftenItIsKilled() throws Exception {
        long total = 0;
        for (int life = 0; life < ROUNDS; life++) {
            liveAndDie(life);
            total = acknowledged.values().stream().mapToLong(Long::longValue).sum();
        }
        assertThat(found).isEqualTo((long) (ROUNDS - 1) * KilledStore.SEGMENTS);
        try (StoreFixture it = StoreFixture.open(directory)) {
            for (ReplicaInfo replica : it.store.inventory()) {
                assertThat(replica.health()).isEqualTo(ReplicaInfo.Health.INTACT);
                long end = it.readAll(replica.segment().value(), 0, 100_000);
                assertThat(end)
                        .isGreaterThanOrEqualTo(
                                acknowledged.getOrDefault(replica.segment().value(), 0L));
            }
        }
        assertThat(total).isGreaterThan(ROUNDS * 100L);
    }

    private void liveAndDie(int life) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        KilledStore.class.getName(),
                        directory.toString(),
                        Integer.toString(life))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader said =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            int answers = 0;
            int killAfter = 50 + random.nextInt(3000);
            for (String line = said.readLine(); line != null; line = said.readLine()) {
                // Its last words may be cut short.
                answers += line.endsWith(KilledStore.FULL_STOP) ? hear(line.split(" ")) : 0;
                if (answers == killAfter) {
                    // Through its handle, which leaves what it has said to be read.
                    process.toHandle().destroyForcibly();
                }
            }
        } finally {
            process.destroyForcibly();
        }
        assertThat(process.waitFor()).isEqualTo(128 + 9);
    }

    private int hear(String[] words) {
        long segment = words.length > 1 ? Long.parseLong(words[1]) : 0;
        switch (words[0]) {
            case "found" -> {
                assertThat(words[2]).isEqualTo("OK");
                assertThat(Long.parseLong(words[3])).isGreaterThanOrEqualTo(acknowledged.getOrDefault(segment, 0L));
                found++;
                return 0;
            }
            case "acknowledged" -> {
                assertThat(words[2]).isEqualTo("OK");
                acknowledged.merge(segment, Long.parseLong(words[3]), Math::max);
                return 1;
            }
            case "created" -> {
                return 0;
            }
            default -> throw new AssertionError(String.join(" ", words));
        }
    }
}
