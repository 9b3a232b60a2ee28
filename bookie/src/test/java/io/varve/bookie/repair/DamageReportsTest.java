package io.varve.bookie.repair;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.BookieId;
import io.varve.base.SegmentId;
import io.varve.bookie.testing.Fake;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataException;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class DamageReportsTest {

    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();
    private final BlockingQueue<String> said = new LinkedBlockingQueue<>();
    private final AtomicInteger failures = new AtomicInteger();
    private final BlockingQueue<CompletableFuture<Void>> unanswered = new LinkedBlockingQueue<>();
    private boolean answering = true;
    private final DamageReports reports = new DamageReports(
            new BookieId(1),
            Fake.of(MetadataClient.class)
                    .on("reportLostReplica", a -> {
                        said.add(a[0] + " " + a[2]);
                        return answer();
                    })
                    .make(),
            thread);

    @AfterEach
    void close() {
        thread.shutdownNow();
    }

    @Test
    void aReportIsRepeatedUntilItIsIn() throws Exception {
        failures.set(1);
        reports.report(new SegmentId(5), "scrub");
        assertThat(said.take()).isEqualTo("5 scrub");
        assertThat(said.take()).isEqualTo("5 scrub");
        assertThat(said.poll(1_500, TimeUnit.MILLISECONDS)).isNull();
        assertThat(reports.waiting()).isZero();
    }

    @Test
    void onlySoManyAreUnderWayAtATimeAndAllGetThrough() throws Exception {
        answering = false;
        List<String> expected =
                IntStream.rangeClosed(1, 100).mapToObj(i -> i + " disk").toList();
        reports.reportAll(IntStream.rangeClosed(1, 100).mapToObj(SegmentId::new).toList(), "disk");
        java.util.TreeSet<String> heard = new java.util.TreeSet<>();
        for (int i = 0; i < 100; i++) {
            heard.add(said.take());
            assertThat(unanswered.size()).isLessThanOrEqualTo(16);
            unanswered.take().complete(null);
        }
        assertThat(heard).containsExactlyInAnyOrderElementsOf(expected);
    }

    private CompletableFuture<Void> answer() {
        CompletableFuture<Void> answer = new CompletableFuture<>();
        if (failures.getAndDecrement() > 0) {
            answer.completeExceptionally(new MetadataException(MetadataException.Reason.UNAVAILABLE, "planted"));
        } else if (answering) {
            answer.complete(null);
        } else {
            unanswered.add(answer);
        }
        return answer;
    }
}
