package io.varve.bookie.repair;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.bookie.client.BookieAddress;
import io.varve.bookie.client.BookieClient;
import io.varve.bookie.client.BookieClient.CheckpointReply;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieClient.ReadReply;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.store.SegmentImport;
import io.varve.bookie.store.SegmentStore;
import io.varve.bookie.task.TaskOutcome;
import io.varve.bookie.testing.Fake;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.runtime.SystemClock;
import io.varve.protocol.storage.EntryFormat;
import io.varve.tiering.api.SealedSegmentSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Copies and deletions of replicas against stand-ins for store, metadata and other bookies. */
@Timeout(30)
class RepairWorkTest {

    private static final BookieId SELF = new BookieId(1);
    private static final PartitionId PARTITION = new PartitionId(new TopicId(1, 1), 0);
    private static final SegmentId SEGMENT = new SegmentId(5);
    private static final long INCARNATION = 77;

    private final List<String> log = new ArrayList<>();
    private final FakeImport target = new FakeImport();
    private final Fake<SegmentStore> store = Fake.of(SegmentStore.class)
            .on("describe", a -> new FenceReply(BookieStatus.NO_SUCH_SEGMENT, -1, -1, 0, false, -1))
            .on("importSegment", a -> target)
            .on("seal", a -> {
                log.add("seal " + a[2]);
                return CompletableFuture.completedFuture(BookieStatus.OK);
            })
            .on("delete", a -> {
                log.add("delete " + a[0] + " " + a[1]);
                return CompletableFuture.completedFuture(BookieStatus.OK);
            });
    private final Fake<BookieClient> client = Fake.of(BookieClient.class)
            .on("readCheckpoint", a -> CompletableFuture.completedFuture(noCheckpoint(BookieStatus.BEYOND_END)));

    @Test
    void aCopyIsReadFromTheFirstSourceThatCanGiveIt() throws Exception {
        client.on("read", a -> {
            int bookie = ((BookieAddress) a[0]).id().value();
            log.add("read " + bookie + " from " + a[2]);
            return CompletableFuture.completedFuture(
                    bookie == 2 ? refusal(BookieStatus.CORRUPT) : entries((long) a[2], (long) a[2] + 2));
        });
        assertThat(copy(() -> true)).isInstanceOf(TaskOutcome.Done.class);
        assertThat(log)
                .containsExactly(
                        "read 2 from 0", "read 3 from 0", "read 3 from 2", "read 3 from 4", "complete", "close");
    }

    /** Without it, producers' state would be lost with the last bookie that was written to. */
    @Test
    void theOwnersCheckpointComesWithTheCopyFromWhoeverHasIt() throws Exception {
        client.on("read", a -> CompletableFuture.completedFuture(entries((long) a[2], 6)))
                .on("readCheckpoint", a -> {
                    int bookie = ((BookieAddress) a[0]).id().value();
                    log.add("checkpoint of " + bookie + " at most " + a[2]);
                    return CompletableFuture.completedFuture(
                            bookie == 2
                                    ? noCheckpoint(BookieStatus.IO_ERROR)
                                    : new CheckpointReply(BookieStatus.OK, 4, Unpooled.wrappedBuffer(new byte[3])));
                });
        assertThat(copy(() -> true)).isInstanceOf(TaskOutcome.Done.class);
        assertThat(log)
                .containsExactly(
                        "checkpoint of 2 at most 6",
                        "checkpoint of 3 at most 6",
                        "checkpoint at 4 of 3 bytes",
                        "complete",
                        "close");
    }

    @Test
    void aCopyWithoutACheckpointCounts() throws Exception {
        client.on("read", a -> CompletableFuture.completedFuture(entries((long) a[2], 6)))
                .on("readCheckpoint", a -> CompletableFuture.completedFuture(noCheckpoint(BookieStatus.NO_ANSWER)));
        assertThat(copy(() -> true)).isInstanceOf(TaskOutcome.Done.class);
        assertThat(log).containsExactly("complete", "close");
    }

    @Test
    void aCopyThatWasBegunBeforeIsGoneOnWith() throws Exception {
        target.next = 4;
        client.on("read", a -> {
            log.add("read from " + a[2]);
            return CompletableFuture.completedFuture(entries((long) a[2], 6));
        });
        assertThat(copy(() -> true)).isInstanceOf(TaskOutcome.Done.class);
        assertThat(log).containsExactly("read from 4", "complete", "close");
    }

    @Test
    void aChunkIsOnItsWayWhileTheOneBeforeIsWritten() throws Exception {
        client.on("read", a -> {
            log.add("read from " + a[2]);
            return CompletableFuture.completedFuture(entries((long) a[2], (long) a[2] + 2));
        });
        target.isLogged = true;
        assertThat(copy(() -> true)).isInstanceOf(TaskOutcome.Done.class);
        assertThat(log)
                .containsExactly(
                        "read from 0",
                        "read from 2",
                        "written to 2",
                        "read from 4",
                        "written to 4",
                        "written to 6",
                        "complete",
                        "close");
    }

    @Test
    void whatIsOnItsWayWhenACopyEndsIsReleasedWhenItComes() throws Exception {
        CompletableFuture<ReadReply> late = new CompletableFuture<>();
        client.on("read", a -> (long) a[2] == 0 ? CompletableFuture.completedFuture(entries(0, 2)) : late);
        target.broken = true;
        assertThat(copy(() -> true)).isEqualTo(new TaskOutcome.Failed("planted"));
        ReadReply reply = entries(2, 4);
        late.complete(reply);
        assertThat(reply.entries().refCnt()).isZero();
    }

    @Test
    void whenNoSourceCanGiveItTheFailureNamesEachAndWhatWasCopiedStays() throws Exception {
        client.on(
                "read",
                a -> CompletableFuture.completedFuture(refusal(
                        ((BookieAddress) a[0]).id().value() == 2 ? BookieStatus.NO_ANSWER : BookieStatus.UNKNOWN)));
        assertThat(copy(() -> true))
                .isEqualTo(new TaskOutcome.Failed(
                        "no source could be read: bookie 2 answered NO_ANSWER; bookie 3 answered UNKNOWN;"));
        assertThat(log).containsExactly("close");
    }

    @Test
    void aCopyThatIsNotWantedAnyMoreIsThrownAway() throws Exception {
        client.on("read", a -> CompletableFuture.completedFuture(entries((long) a[2], (long) a[2] + 2)));
        int[] looks = {0};
        assertThat(copy(() -> ++looks[0] < 3)).isInstanceOf(TaskOutcome.Failed.class);
        assertThat(log).containsExactly("abort", "close");
    }

    @Test
    void aDiskThatFailsEndsTheCopy() throws Exception {
        target.broken = true;
        client.on("read", a -> CompletableFuture.completedFuture(entries((long) a[2], 6)));
        assertThat(copy(() -> true)).isEqualTo(new TaskOutcome.Failed("planted"));
        assertThat(log).containsExactly("abort", "close");
    }

    @Test
    void aReplicaThatIsHereWholeIsSealedAndNotCopied() throws Exception {
        store.on("describe", a -> new FenceReply(BookieStatus.OK, 6, 6, INCARNATION, false, 3));
        assertThat(copy(() -> true)).isInstanceOf(TaskOutcome.Done.class);
        assertThat(log).containsExactly("seal 6");
    }

    @Test
    void aDeletionIsCarriedOutInTheDirectoryThatWasNamed() throws Exception {
        assertThat(delete(List.of(new Replica(new BookieId(2), 1)))).isInstanceOf(TaskOutcome.Done.class);
        assertThat(log).containsExactly("delete 5 77");
    }

    /** I-9: two words of the metadata that contradict each other are no positive instruction. */
    @Test
    void nothingIsDeletedWhileTheMetadataNamesTheReplicaAsOneToBeRead() throws Exception {
        assertThat(delete(List.of(new Replica(SELF, INCARNATION)))).isInstanceOf(TaskOutcome.TryAgain.class);
        assertThat(delete(List.of(new Replica(SELF, 0)))).isInstanceOf(TaskOutcome.TryAgain.class);
        assertThat(log).isEmpty();
        assertThat(delete(List.of(new Replica(SELF, 78)))).isInstanceOf(TaskOutcome.Done.class);
    }

    /** S3, C14: the object that takes the copy's place is looked at once more, and what can't be seen isn't taken for there. */
    @Test
    void aCopyIsKeptWhileItsObjectIsNotInTheBucket() throws Exception {
        MetadataView offloaded = view(List.of(), Optional.of(new ObjectRef("key", 1, 100, 7, 0, 6, -1)));
        holding(0, 6);
        assertThat(delete(offloaded, object -> CompletableFuture.completedFuture(false)))
                .as("whole: it can be read in the object's place")
                .isEqualTo(new TaskOutcome.Failed("MISSING: key is not in the bucket as it was committed"));
        holding(0, 5);
        assertThat(delete(offloaded, object -> CompletableFuture.completedFuture(false)))
                .isEqualTo(new TaskOutcome.Stuck(
                        "UNREADABLE: the object is not in the bucket as it was committed, and the copy on bookie 1 can't be"
                                + " read in its place: it ends at offset 5, not 6"));
        holding(1, 6);
        assertThat(delete(offloaded, object -> CompletableFuture.completedFuture(false)))
                .isInstanceOf(TaskOutcome.Stuck.class);
        assertThat(delete(offloaded, object -> CompletableFuture.failedFuture(new IOException("THROTTLED: away"))))
                .isInstanceOf(TaskOutcome.TryAgain.class);
        assertThat(log).isEmpty();
        assertThat(delete(offloaded, object -> CompletableFuture.completedFuture(true)))
                .isInstanceOf(TaskOutcome.Done.class);
        assertThat(log).containsExactly("delete 5 77");
    }

    @Test
    void whatReadingAndWritingTookIsNotWaitedForOnceMore() {
        CopyPace pace = new CopyPace(1_000);
        long waitedNanos = pace.afterNanos(100, 0);
        for (int second = 1; second <= 10; second++) {
            waitedNanos += pace.afterNanos(1_000, second * 1_000_000_000L);
        }
        assertThat(waitedNanos).isZero();
    }

    @Test
    void copiesTogetherKeepToTheirPace() {
        CopyPace pace = new CopyPace(1_000);
        assertThat(pace.afterNanos(500, 0)).isZero();
        assertThat(pace.afterNanos(500, 0)).isEqualTo(500_000_000);
        assertThat(pace.afterNanos(500, 0)).isEqualTo(1_000_000_000);
        assertThat(pace.afterNanos(10, 5_000_000_000L)).isZero();
        assertThat(pace.afterNanos(500, 5_000_000_000L)).isEqualTo(410_000_000);
        assertThat(new CopyPace(0).afterNanos(1 << 30, 0)).isZero();
    }

    private TaskOutcome copy(BooleanSupplier wanted) throws Exception {
        CopyReplicaWork work = new CopyReplicaWork(
                store.make(), client.make(), Runnable::run, SystemClock.INSTANCE, new CopyPace(0), 1000, 1000);
        BookieTask.CopyReplica task = new BookieTask.CopyReplica(
                9,
                SELF,
                PARTITION,
                SEGMENT,
                INCARNATION,
                List.of(
                        new Replica(new BookieId(2), 1),
                        new Replica(new BookieId(3), 1),
                        new Replica(new BookieId(4), 1)));
        return work.start(task, view(List.of()), wanted).get(10, TimeUnit.SECONDS);
    }

    private TaskOutcome delete(List<Replica> named) throws Exception {
        return delete(view(named), object -> CompletableFuture.failedFuture(new AssertionError("there is none")));
    }

    private TaskOutcome delete(MetadataView view, Function<ObjectRef, CompletableFuture<Boolean>> isThere)
            throws Exception {
        return new DeleteReplicaWork(SELF, store.make(), isThere, Runnable::run)
                .start(new BookieTask.DeleteReplica(9, SELF, PARTITION, SEGMENT, INCARNATION), view, () -> true)
                .get(10, TimeUnit.SECONDS);
    }

    /** The bookie's copy has these entries. */
    private void holding(long from, long to) {
        store.on("openSealed", a -> {
            List<ByteBuffer> left = new ArrayList<>();
            left.add(entries(from, to).entries().nioBuffer());
            return Fake.of(SealedSegmentSource.class)
                    .on("next", b -> left.isEmpty() ? Optional.empty() : Optional.of(left.remove(0)))
                    .on("close", b -> null)
                    .make();
        });
    }

    private static MetadataView view(List<Replica> replicas) {
        return view(replicas, Optional.empty());
    }

    private static MetadataView view(List<Replica> replicas, Optional<ObjectRef> object) {
        SegmentDescriptor segment = new SegmentDescriptor(
                SEGMENT,
                PARTITION,
                3,
                SegmentDescriptor.State.SEALED,
                0,
                6,
                2,
                replicas,
                List.of(),
                100,
                -1,
                0,
                0,
                object);
        return Fake.of(MetadataView.class)
                .on("segment", a -> Optional.of(segment))
                .on("version", a -> 1L)
                .on("bookie", a -> {
                    BookieId id = (BookieId) a[0];
                    BookieInfo.State state = id.value() == 4 ? BookieInfo.State.GONE : BookieInfo.State.WRITABLE;
                    return Optional.of(new BookieInfo(id, 1, List.of(1L), "", "h", 1, state, 1, 1, -1));
                })
                .make();
    }

    private static CheckpointReply noCheckpoint(BookieStatus why) {
        return new CheckpointReply(why, -1, Unpooled.EMPTY_BUFFER);
    }

    private static ReadReply refusal(BookieStatus status) {
        return new ReadReply(status, Unpooled.EMPTY_BUFFER, -1, -1);
    }

    private static ReadReply entries(long from, long to) {
        ByteBuf entries = Unpooled.buffer();
        for (long offset = from; offset < to; offset++) {
            ByteBuffer entry = ByteBuffer.allocate(EntryFormat.HEADER_BYTES);
            EntryFormat.putHeader(
                    entry, offset, offset, 0, EntryFormat.checksum(offset, offset, ByteBuffer.allocate(0)));
            entries.writeBytes(entry.flip());
        }
        return new ReadReply(BookieStatus.OK, entries, to, to);
    }

    private final class FakeImport implements SegmentImport {
        private long next;
        private boolean broken;
        private boolean isLogged;

        @Override
        public long nextOffset() {
            return next;
        }

        @Override
        public void write(ByteBuffer entries) throws IOException {
            if (broken) {
                throw new IOException("planted");
            }
            assertThat(EntryFormat.firstOffset(entries, entries.position())).isEqualTo(next);
            next += entries.remaining() / EntryFormat.HEADER_BYTES;
            if (isLogged) {
                log.add("written to " + next);
            }
        }

        @Override
        public void checkpoint(long offset, ByteBuffer state) {
            log.add("checkpoint at " + offset + " of " + state.remaining() + " bytes");
        }

        @Override
        public void complete() {
            log.add("complete");
        }

        @Override
        public void abort() {
            log.add("abort");
        }

        @Override
        public void close() {
            log.add("close");
        }
    }
}
