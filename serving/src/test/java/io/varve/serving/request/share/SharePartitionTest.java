package io.varve.serving.request.share;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.HashedWheelTimer;
import io.varve.base.PartitionId;
import io.varve.base.TopicId;
import io.varve.metadata.testing.StepClock;
import io.varve.serving.coordinator.ShareGroupSettings;
import io.varve.serving.coordinator.ShareStates;
import io.varve.serving.core.share.Acknowledgement;
import io.varve.serving.core.share.Acquired;
import io.varve.serving.core.share.Deliveries;
import io.varve.serving.core.share.ShareKey;
import io.varve.serving.core.share.ShareLimits;
import io.varve.serving.log.InMemoryPartitionLog;
import io.varve.serving.log.InMemoryPartitionLogs;
import io.varve.serving.log.PartitionLog;
import io.varve.serving.request.Deadlines;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SharePartitionTest {

    private static final int ONE_BATCH = 1;

    private final PartitionId id = new PartitionId(new TopicId(1, 1), 0);
    private final InMemoryPartitionLog log = new InMemoryPartitionLogs().serve(id);
    private final HashedWheelTimer wheel = new HashedWheelTimer();
    private final ShareGroupSettings settings =
            new ShareGroupSettings(new ShareLimits(1_000, 5, 100), false, ShareGroupSettings.Reset.EARLIEST, 0, false);
    private final SharePartition partition = new SharePartition(
            new ShareKey("g", id),
            log,
            new AlwaysStored(),
            () -> settings,
            new Deadlines(wheel),
            new StepClock(1_000),
            0,
            Deliveries.of(0, List.of()));

    private static final class AlwaysStored implements ShareStates {
        @Override
        public CompletableFuture<Stored> read(ShareKey key, int leaderEpoch) {
            return CompletableFuture.completedFuture(new Stored(Errors.NONE, 0, NO_START, List.of()));
        }

        @Override
        public CompletableFuture<Errors> write(ShareKey key, int stateEpoch, int leaderEpoch, Deliveries.Write write) {
            return CompletableFuture.completedFuture(Errors.NONE);
        }
    }

    @AfterEach
    void stop() {
        partition.die(Errors.NONE);
        wheel.stop();
    }

    private void put(String key) {
        SimpleRecord record = new SimpleRecord(1, key.getBytes(StandardCharsets.UTF_8), new byte[] {1});
        log.append(
                        List.of(new PartitionLog.Batch(
                                Unpooled.wrappedBuffer(MemoryRecords.withRecords(Compression.NONE, record)
                                        .buffer()
                                        .duplicate()),
                                1,
                                1,
                                -1,
                                (short) -1,
                                -1,
                                false)),
                        PartitionLog.AppendOptions.CLIENT)
                .join();
    }

    /** What a member gets that asks again while it is told to. */
    private List<Acquired> acquire(String member) {
        SharePartition.Got got;
        do {
            got = partition
                    .acquire(new SharePartition.Wish(member, 100, false, ONE_BATCH))
                    .join();
            got.batches().forEach(ByteBuf::release);
        } while (got.again());
        assertThat(got.error()).isEqualTo(Errors.NONE);
        return got.acquired();
    }

    private void accept(String member, long offset) {
        Acknowledgement accepted = new Acknowledgement(offset, offset, List.of(Acknowledgement.ACCEPT));
        assertThat(partition.acknowledge(member, List.of(accepted)).join()).isEqualTo(Errors.NONE);
    }

    /**
     * What a member gave back is the next to be handed out, and each read begins there. If compaction took it meanwhile, the read brings the same batches from behind it
     * again and again, and whoever asks for one batch at a time gets nothing more, for ever.
     */
    @Test
    void aGroupGetsPastRecordsThatWereGivenBackAndCompactedAwayThen() {
        put("a");
        assertThat(acquire("first")).containsExactly(new Acquired(0, 0, 1));
        partition.releaseAll("first");
        for (String key : List.of("b", "a", "c")) {
            put(key);
        }
        log.compact(4);

        for (long offset = 1; offset <= 3; offset++) {
            assertThat(acquire("second")).containsExactly(new Acquired(offset, offset, 1));
            accept("second", offset);
        }
        assertThat(acquire("second")).isEmpty();
    }

    @Test
    void aGroupGetsPastTheEndOfALogOfWhichNothingIsLeft() {
        put("a");
        assertThat(acquire("first")).containsExactly(new Acquired(0, 0, 1));
        partition.releaseAll("first");
        put("a");
        log.compact(2);
        assertThat(acquire("second")).containsExactly(new Acquired(1, 1, 1));
        put("b");
        assertThat(acquire("second")).containsExactly(new Acquired(2, 2, 1));
    }
}
