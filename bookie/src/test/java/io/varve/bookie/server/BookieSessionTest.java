package io.varve.bookie.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.BookieId;
import io.varve.base.StartupException;
import io.varve.bookie.store.DirectoryInfo;
import io.varve.bookie.store.DirectoryInfo.State;
import io.varve.bookie.store.SegmentStore;
import io.varve.bookie.testing.Fake;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataClient.BookieRegistration;
import io.varve.metadata.api.MetadataException;
import io.varve.metadata.api.MetadataException.Reason;
import io.varve.metadata.api.NodeSession;
import io.varve.protocol.config.HostPort;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class BookieSessionTest {

    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();
    private final BlockingQueue<BookieRegistration> registered = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> told = new LinkedBlockingQueue<>();
    private final BlockingQueue<Reason> refusals = new LinkedBlockingQueue<>();
    private final AtomicLong sessionIds = new AtomicLong(100);
    private volatile CompletableFuture<String> lost = new CompletableFuture<>();
    private volatile List<DirectoryInfo> directories =
            List.of(directory(11, State.WRITABLE), directory(12, State.WRITABLE));
    private volatile boolean readOnly;

    private final BookieSession session = new BookieSession(
            new BookieId(1),
            "rack-1",
            new HostPort("host", 7200),
            Fake.of(MetadataClient.class)
                    .on("registerBookie", a -> register((BookieRegistration) a[0]))
                    .make(),
            Fake.of(SegmentStore.class)
                    .on("directories", a -> directories)
                    .on("isReadOnly", a -> readOnly)
                    .make(),
            thread,
            sessionIds::incrementAndGet);

    @AfterEach
    void close() {
        thread.shutdownNow();
    }

    @Test
    void itRegistersWithItsDirectoriesAndSaysHowTheyAre() throws Exception {
        session.start(1_000, 0, () -> 0);
        assertThat(registered.take())
                .isEqualTo(new BookieRegistration(
                        new BookieId(1), 101, List.of(11L, 12L), "rack-1", "host", 7200, 200, 2_000));
        assertThat(told.take()).isEqualTo("WRITABLE 200 2000");
        directories = List.of(
                new DirectoryInfo("/d11", 11, State.WRITABLE, 100, 1_000, 0, true), directory(12, State.WRITABLE));
        session.onDisksChanged();
        assertThat(told.take()).isEqualTo("SLOW 200 2000");
        directories = List.of(directory(11, State.WRITABLE), directory(12, State.WRITABLE));
        readOnly = true;
        session.onDisksChanged();
        assertThat(told.take()).isEqualTo("READ_ONLY 200 2000");
        session.onDisksChanged();
        assertThat(told.poll(300, TimeUnit.MILLISECONDS)).as("nothing new").isNull();
    }

    @Test
    void aPredecessorsSessionIsWaitedFor() throws Exception {
        refusals.add(Reason.DUPLICATE_NODE);
        refusals.add(Reason.UNAVAILABLE);
        session.start(10_000, 0, () -> 0);
        assertThat(registered.take().sessionId()).isEqualTo(103);
    }

    @Test
    void aNumberThatIsTakenIsRefusedInTheEnd() {
        refusals.add(Reason.DUPLICATE_NODE);
        assertThatThrownBy(() -> session.start(60_000, 0, () -> TimeUnit.SECONDS.toNanos(11)))
                .isInstanceOfSatisfying(
                        StartupException.class,
                        e -> assertThat(e.reason()).isEqualTo(StartupException.Reason.DUPLICATE_NODE));
    }

    @Test
    void aLostSessionIsMadeAnew() throws Exception {
        session.start(1_000, 0, () -> 0);
        registered.take();
        told.take();
        refusals.add(Reason.UNAVAILABLE);
        CompletableFuture<String> first = lost;
        lost = new CompletableFuture<>();
        first.complete("silent for 3000 ms");
        assertThat(registered.take().sessionId()).isGreaterThan(101);
        assertThat(session.refused()).isNotDone();
    }

    /** I-12: nothing new may be put into a directory that is out of service. */
    @Test
    void aDirectoryOutOfServiceIsNoLongerRegistered() throws Exception {
        session.start(1_000, 0, () -> 0);
        registered.take();
        directories = List.of(directory(11, State.OUT_OF_SERVICE), directory(12, State.WRITABLE));
        session.onDirectoryLost();
        assertThat(registered.take().incarnations()).containsExactly(12L);
        directories = List.of(directory(11, State.OUT_OF_SERVICE), directory(12, State.OUT_OF_SERVICE));
        session.onDirectoryLost();
        assertThat(session.refused().get(10, TimeUnit.SECONDS)).contains("no data directory");
    }

    private CompletableFuture<NodeSession> register(BookieRegistration asked) {
        Reason refusal = refusals.poll();
        if (refusal != null) {
            return CompletableFuture.failedFuture(new MetadataException(refusal, "planted"));
        }
        registered.add(asked);
        return CompletableFuture.completedFuture(Fake.of(NodeSession.class)
                .on("lost", a -> lost)
                .on("close", a -> null)
                .on("setBookieState", a -> {
                    told.add(a[0] + " " + a[1] + " " + a[2]);
                    return CompletableFuture.completedFuture(null);
                })
                .make());
    }

    private static DirectoryInfo directory(long incarnation, State state) {
        return new DirectoryInfo("/d" + incarnation, incarnation, state, 100, 1_000, 0, false);
    }
}
