package io.varve.bookie.task;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataDelta;
import io.varve.metadata.api.MetadataException;
import io.varve.metadata.api.MetadataListener;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.ObjectRef;
import io.varve.protocol.runtime.SystemClock;
import io.varve.protocol.runtime.SystemRandomness;
import io.varve.sim.RecordingFaultHandler;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class TaskRunnerTest {

    private static final BookieId SELF = new BookieId(1);
    private static final PartitionId PARTITION = new PartitionId(new TopicId(1, 1), 0);

    private final RecordingFaultHandler faults = new RecordingFaultHandler();
    private final FakeMetadata metadata = new FakeMetadata();
    private final FakeWork offloads = new FakeWork(false);
    private final FakeWork deletions = new FakeWork(true);
    private final FakeWork manifests = new FakeWork(false);
    private final TaskRunner runner = new TaskRunner(
            SELF,
            metadata.client(),
            works(),
            Map.of(TaskKind.OFFLOAD, 2, TaskKind.DELETE_REPLICA, 2, TaskKind.BUILD_MANIFEST, 1),
            SystemClock.INSTANCE,
            SystemRandomness.INSTANCE,
            faults,
            new SimpleMeterRegistry());

    private boolean faultExpected;

    @AfterEach
    void close() {
        runner.close();
        if (!faultExpected) {
            faults.assertNone();
        }
    }

    @Test
    void aBrokenInvariantInsideAWorkReachesTheFaultHandler() throws Exception {
        faultExpected = true;
        metadata.give(offload(1));
        runner.start();
        offloads.next().outcome.completeExceptionally(new AssertionError("planted"));
        offloads.next();
        assertThat(faults.faults()).hasSize(1);
    }

    @Test
    void aManifestIsReportedWithWhatItSupersedes() throws Exception {
        metadata.give(new BookieTask.BuildManifest(3, SELF, PARTITION, Optional.empty(), 0, 10));
        runner.start();
        manifests.next().end(new TaskOutcome.ManifestEdited(Optional.empty(), List.of("old")));
        assertThat(metadata.reports.take()).isEqualTo("commit manifest 3 Optional.empty [old]");
    }

    @Test
    void whatStandsAtTheStartAndWhatComesLaterIsCarriedOutAndReported() throws Exception {
        metadata.give(offload(1));
        runner.start();
        offloads.next().end(new TaskOutcome.Uploaded(object(1)));
        assertThat(metadata.reports.take()).isEqualTo("commit 1");
        metadata.give(offload(2));
        offloads.next().end(new TaskOutcome.Failed("disk"));
        assertThat(metadata.reports.take()).isEqualTo("fail 2 disk");
        metadata.give(offload(3));
        offloads.next().end(new TaskOutcome.Failed("away", true));
        assertThat(metadata.reports.take()).isEqualTo("fail 3 away, and nothing is left");
    }

    /** I-10: the key of an upload may have been written by the process before, whose commit may still come; other bytes must not come under it. */
    @Test
    void anUploadThatAnEarlierProcessMayHaveBegunIsReportedAsFailedAndNotBegunAgain() throws Exception {
        offloads.repeatable = false;
        metadata.readFailures = 1;
        metadata.give(offload(1));
        metadata.give(delete(2));
        runner.start();
        assertThat(metadata.reports.take()).isEqualTo("fail 1 an earlier process of this bookie may have begun it");
        deletions.next().end(new TaskOutcome.Done());
        assertThat(metadata.reports.take()).isEqualTo("complete 2");

        metadata.give(offload(3));
        assertThat(offloads.next().task.taskId()).isEqualTo(3);
        assertThat(offloads.begun).isEmpty();
    }

    @Test
    void aReportIsRepeatedUntilTheQuorumHasAnsweredIt() throws Exception {
        metadata.failReports(MetadataException.Reason.UNKNOWN_OUTCOME, 1);
        metadata.failReports(MetadataException.Reason.UNAVAILABLE, 1);
        metadata.give(offload(1));
        runner.start();
        offloads.next().end(new TaskOutcome.Uploaded(object(1)));
        assertThat(metadata.reports.take()).isEqualTo("commit 1");
        assertThat(metadata.reports.take()).isEqualTo("commit 1");
        assertThat(metadata.reports.take()).isEqualTo("commit 1");
        assertThat(offloads.begun.poll(300, TimeUnit.MILLISECONDS))
                .as("it is not done twice")
                .isNull();
    }

    @Test
    void aReportThatIsRefusedForGoodIsNotRepeated() throws Exception {
        metadata.failReports(MetadataException.Reason.NOT_FOUND, 1);
        metadata.give(offload(1));
        runner.start();
        offloads.next().end(new TaskOutcome.Uploaded(object(1)));
        assertThat(metadata.reports.take()).isEqualTo("commit 1");
        assertThat(metadata.reports.poll(500, TimeUnit.MILLISECONDS)).isNull();
    }

    /** I-9, I-17: a view can be old; what can't be undone is done on a linearizable one only. */
    @Test
    void aDeletionThatNoLongerStandsInALinearizableReadIsNotCarriedOut() throws Exception {
        metadata.linearizable = List.of();
        metadata.give(delete(1));
        runner.start();
        metadata.reads.take();
        assertThat(deletions.begun.poll(300, TimeUnit.MILLISECONDS)).isNull();
        metadata.linearizable = null;
        assertThat(deletions.next().task.taskId()).isOne();
    }

    @Test
    void aDeletionWaitsWhileTheQuorumCannotBeAsked() throws Exception {
        metadata.readFailures = 2;
        metadata.give(delete(1));
        runner.start();
        metadata.reads.take();
        metadata.reads.take();
        Begun begun = deletions.next();
        begun.end(new TaskOutcome.Done());
        assertThat(metadata.reports.take()).isEqualTo("complete 1");
    }

    @Test
    void whatIsToBeTriedAgainIsBegunAgainAfterAWhile() throws Exception {
        metadata.give(delete(1));
        runner.start();
        deletions.next().end(new TaskOutcome.TryAgain("busy"));
        deletions.next().end(new TaskOutcome.Done());
        assertThat(metadata.reports.take()).isEqualTo("complete 1");
    }

    /** S3: neither object nor copy can be read. The order stands, and whoever looks at the metadata is told for as long as it does. */
    @Test
    void whatIsStuckIsReportedAndTriedAgainUntilItIsDone() throws Exception {
        metadata.failReports(MetadataException.Reason.UNAVAILABLE, 1);
        metadata.give(delete(1));
        runner.start();
        for (int i = 0; i < 3; i++) {
            deletions.next().end(new TaskOutcome.Stuck("UNREADABLE: both"));
            assertThat(metadata.reports.take()).isEqualTo("stuck 1 UNREADABLE: both");
        }
        deletions.next().end(new TaskOutcome.Done());
        assertThat(metadata.reports.take()).isEqualTo("complete 1");
    }

    @Test
    void longWorkLearnsThatItIsNotWantedAnyMore() throws Exception {
        metadata.give(offload(1));
        runner.start();
        Begun begun = offloads.next();
        assertThat(begun.wanted.getAsBoolean()).isTrue();
        metadata.withdrawAll();
        assertThat(begun.wanted.getAsBoolean()).isFalse();
    }

    private Map<TaskKind, TaskWork<? extends BookieTask>> works() {
        Map<TaskKind, TaskWork<? extends BookieTask>> works = new EnumMap<>(TaskKind.class);
        works.put(TaskKind.OFFLOAD, offloads);
        works.put(TaskKind.DELETE_REPLICA, deletions);
        works.put(TaskKind.COPY_REPLICA, new FakeWork(false));
        works.put(TaskKind.DELETE_OBJECT, new FakeWork(true));
        works.put(TaskKind.BUILD_MANIFEST, manifests);
        return works;
    }

    private static BookieTask offload(long id) {
        return new BookieTask.Offload(id, SELF, PARTITION, List.of(new SegmentId(id)));
    }

    private static BookieTask delete(long id) {
        return new BookieTask.DeleteReplica(id, SELF, PARTITION, new SegmentId(id), 0);
    }

    private static ObjectRef object(long id) {
        return new ObjectRef("key", id, 1, 1, 0, 1, -1);
    }

    private record Begun(BookieTask task, BooleanSupplier wanted, CompletableFuture<TaskOutcome> outcome) {
        void end(TaskOutcome how) {
            outcome.complete(how);
        }
    }

    private static final class FakeWork implements TaskWork<BookieTask> {
        private final boolean irreversible;
        private final BlockingQueue<Begun> begun = new LinkedBlockingQueue<>();
        private volatile boolean repeatable = true;

        FakeWork(boolean irreversible) {
            this.irreversible = irreversible;
        }

        @Override
        public boolean isIrreversible() {
            return irreversible;
        }

        @Override
        public boolean isRepeatable() {
            return repeatable;
        }

        @Override
        public CompletableFuture<TaskOutcome> start(BookieTask task, MetadataView view, BooleanSupplier wanted) {
            Begun next = new Begun(task, wanted, new CompletableFuture<>());
            begun.add(next);
            return next.outcome;
        }

        Begun next() throws InterruptedException {
            Begun next = begun.poll(10, TimeUnit.SECONDS);
            assertThat(next).isNotNull();
            return next;
        }
    }

    /** As much of the metadata service as the runner uses. */
    private static final class FakeMetadata implements InvocationHandler {
        private final BlockingQueue<String> reports = new LinkedBlockingQueue<>();
        private final BlockingQueue<String> reads = new LinkedBlockingQueue<>();
        private final List<MetadataException.Reason> reportFailures = new ArrayList<>();
        private volatile List<BookieTask> tasks = List.of();
        private volatile List<BookieTask> linearizable;
        private volatile int readFailures;
        private volatile MetadataListener listener;

        MetadataClient client() {
            return (MetadataClient)
                    Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {MetadataClient.class}, this);
        }

        void give(BookieTask task) {
            List<BookieTask> more = new ArrayList<>(tasks);
            more.add(task);
            change(more);
        }

        void withdrawAll() {
            change(List.of());
        }

        synchronized void failReports(MetadataException.Reason reason, int times) {
            for (int i = 0; i < times; i++) {
                reportFailures.add(reason);
            }
        }

        private void change(List<BookieTask> now) {
            tasks = List.copyOf(now);
            MetadataListener told = listener;
            if (told != null) {
                told.onChange(
                        view(tasks),
                        view(tasks),
                        new MetadataDelta(
                                false,
                                new TreeSet<>(),
                                new TreeSet<>(),
                                new TreeSet<>(),
                                new TreeSet<>(),
                                new TreeSet<>(List.of(SELF)),
                                false));
            }
        }

        private static MetadataView view(List<BookieTask> tasks) {
            return (MetadataView) Proxy.newProxyInstance(
                    FakeMetadata.class.getClassLoader(), new Class<?>[] {MetadataView.class}, (proxy, method, args) -> {
                        if (method.getName().equals("tasksOf")) {
                            return tasks;
                        }
                        throw new UnsupportedOperationException(method.getName());
                    });
        }

        @Override
        public Object invoke(Object proxy, java.lang.reflect.Method method, Object[] args) {
            return switch (method.getName()) {
                case "view" -> view(tasks);
                case "subscribe" -> {
                    listener = (MetadataListener) args[0];
                    yield null;
                }
                case "unsubscribe" -> null;
                case "linearizable" -> read();
                case "commitOffload" -> report("commit " + args[0]);
                case "commitManifest" -> report("commit manifest " + args[0] + " " + args[1] + " " + args[2]);
                case "completeTask" -> report("complete " + args[0]);
                case "reportStuck" -> report("stuck " + args[0] + " " + args[1]);
                case "failTask" ->
                    report("fail " + args[0] + " " + args[1] + ((boolean) args[2] ? ", and nothing is left" : ""));
                default -> throw new UnsupportedOperationException(method.getName());
            };
        }

        private CompletableFuture<MetadataView> read() {
            reads.add("read");
            if (readFailures > 0) {
                readFailures--;
                return CompletableFuture.failedFuture(
                        new MetadataException(MetadataException.Reason.UNAVAILABLE, "no quorum"));
            }
            List<BookieTask> seen = linearizable;
            return CompletableFuture.completedFuture(view(seen == null ? tasks : seen));
        }

        private synchronized CompletableFuture<Void> report(String what) {
            reports.add(what);
            return reportFailures.isEmpty()
                    ? CompletableFuture.completedFuture(null)
                    : CompletableFuture.failedFuture(new MetadataException(reportFailures.remove(0), "planted"));
        }
    }
}
