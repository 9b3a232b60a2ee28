package io.varve.serving.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.base.BookieId;
import io.varve.bookie.client.BookieStatus;
import io.varve.metadata.model.SegmentDescriptor;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** I-1, I-4: which bookies hold a rewrite, and when there are too few of them. */
class RewriteStreamsTest {

    private final CompactedPartition partition = new CompactedPartition(CompactionOptions.NEVER)
            .put("a", "1")
            .put("a", "2")
            .roll();
    private int changes;
    private RewriteStreams streams = open();

    private RewriteStreams open() {
        SegmentDescriptor rewrite = partition
                .client
                .allocateRewrite(
                        partition.id(),
                        partition.epoch(),
                        List.of(partition.sealed().get(0).id()),
                        Set.of())
                .join();
        return new RewriteStreams(partition.context, partition.loop, partition.id(), rewrite, () -> changes++);
    }

    @AfterEach
    void nothingIsHeldInTheEnd() {
        streams.close();
        partition.thread.drain();
        partition.bookies.assertNothingIsHeld();
    }

    private void send(long firstOffset, long lastOffset) {
        ByteBuf payload = Unpooled.wrappedBuffer(new byte[100]);
        streams.append(firstOffset, lastOffset, payload);
        assertThat(payload.refCnt()).as("the reference passed on").isZero();
    }

    private void hang(int... ids) {
        for (int id : ids) {
            partition.bookies.hanging.add(new BookieId(id));
        }
    }

    private List<Integer> holders() {
        return streams.holders().stream().map(BookieId::value).toList();
    }

    @Test
    void allGetWhatIsSentAndHoldItOnceTheySaySo() {
        hang(3);
        assertThat(streams.sentEnd()).isZero();
        send(0, 0);
        assertThat(streams.sentEnd()).isEqualTo(1);
        assertThat(holders()).as("before the loop has heard of it").isEmpty();
        partition.thread.drain();
        assertThat(changes).isEqualTo(2);
        assertThat(holders()).containsExactly(1, 2);
        assertThat(streams.isAllDurable()).isFalse();
        assertThat(streams.pendingBytes()).as("of the slowest").isEqualTo(100);

        partition.bookies.streamTo(3).confirm();
        partition.thread.drain();
        assertThat(streams.isAllDurable()).isTrue();
        assertThat(streams.pendingBytes()).isZero();

        send(1, 1);
        assertThat(holders()).as("what was sent since").isEmpty();
        assertThat(partition.bookies.streams).allMatch(stream -> stream.epoch == partition.epoch());
    }

    @Test
    void whoFailsIsLeftAndAQuorumIsEnough_I1() {
        send(0, 0);
        partition.bookies.streamTo(2).fail(BookieStatus.NO_ANSWER);
        partition.thread.drain();
        assertThat(streams.isEnough()).isTrue();
        send(1, 1);
        partition.thread.drain();
        assertThat(holders()).containsExactly(1, 3);
        assertThat(partition.bookies.batches(new BookieId(2), partition.bookies.streamTo(2).segment))
                .as("nothing is sent to it any longer")
                .hasSize(1);

        partition.bookies.streamTo(3).fail(BookieStatus.READ_ONLY);
        partition.thread.drain();
        assertThat(streams.isEnough()).isFalse();
    }

    @Test
    void oneFenceStopsIt_I4() {
        partition.bookies.streamTo(1).fail(BookieStatus.FENCED);
        assertThat(streams.isEnough()).as("before the loop has heard of it").isTrue();
        partition.thread.drain();
        assertThat(streams.isEnough()).as("though a quorum of streams is left").isFalse();
        assertThat(changes).isEqualTo(1);
    }

    @Test
    void laggardsAreLeftAndWhatTheySayLaterCountsForNothing() {
        hang(2, 3);
        send(0, 0);
        partition.thread.drain();
        partition.bookies.streamTo(2).confirm();
        streams.leaveLaggards();
        assertThat(streams.isEnough())
                .as("what the loop hasn't heard of isn't known")
                .isFalse();
        partition.thread.drain();
        assertThat(holders()).containsExactly(1);
        assertThat(streams.isAllDurable()).as("by all that are left").isTrue();
    }

    @Test
    void aBookieWithoutAnAddressIsNotWaitedFor() {
        streams.close();
        partition.metadata.expireBookie(new BookieId(3), 103);
        streams = open();
        assertThat(streams.isEnough()).isTrue();
        send(0, 0);
        partition.thread.drain();
        assertThat(streams.isAllDurable()).isTrue();
        assertThat(holders()).containsExactly(1, 2);
    }

    @Test
    void checkpointAndSealReachAllThatAreLeft() {
        send(0, 1);
        partition.bookies.streamTo(2).fail(BookieStatus.NO_ANSWER);
        partition.thread.drain();
        streams.checkpoint(2, ByteBuffer.wrap(new byte[] {7}));
        streams.seal();
        for (int id : new int[] {1, 3}) {
            ScriptedBookies.Stream stream = partition.bookies.streamTo(id);
            assertThat(partition.bookies.checkpoints(new BookieId(id), stream.segment))
                    .containsOnlyKeys(2L);
            assertThat(stream.sealedEnd).isEqualTo(2);
        }
        assertThat(partition.bookies.streamTo(2).sealedEnd).isEqualTo(-1);
    }

    @Test
    void afterTheEndNothingIsSentAndNothingHeld() {
        send(0, 0);
        streams.close();
        send(1, 1);
        partition.thread.drain();
        assertThat(holders()).isEmpty();
        assertThat(streams.isEnough()).isFalse();
        assertThat(streams.pendingBytes()).isZero();
    }
}
