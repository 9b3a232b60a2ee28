package io.varve.protocol.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

class StorageCodecTest {

    private static final PartitionId PARTITION = new PartitionId(new TopicId(0x1122334455667788L, -2), 5);

    @Test
    void anAppendOnTheWireCarriesTheVeryBytesOfAnEntry() {
        byte[] payload = {1, 2, 3, 4, 5};
        int crc = EntryFormat.checksum(100, 104, ByteBuffer.wrap(payload));
        ByteBuf message = Unpooled.buffer();
        AppendFrames.writeAppendHead(message, 99, 100, 104, payload.length, crc);
        assertThat(message.readableBytes()).isEqualTo(AppendFrames.APPEND_HEAD_BYTES);
        message.writeBytes(payload);

        assertThat(AppendFrames.type(message)).isEqualTo(AppendFrames.APPEND);
        assertThat(AppendFrames.isWholeAppend(message)).isTrue();
        assertThat(AppendFrames.highWatermark(message)).isEqualTo(99);
        assertThat(AppendFrames.firstOffset(message)).isEqualTo(100);
        assertThat(AppendFrames.lastOffset(message)).isEqualTo(104);
        assertThat(AppendFrames.crc(message)).isEqualTo(crc);
        assertThat(AppendFrames.payload(message)).isEqualTo(Unpooled.wrappedBuffer(payload));
        assertThat(EntryFormat.isIntact(message.nioBuffer(), 9)).isTrue();
    }

    @Test
    void anAppendOfAnotherLengthThanItClaimsIsNotWhole() {
        ByteBuf message = Unpooled.buffer();
        AppendFrames.writeAppendHead(message, 99, 100, 104, 5, 1);
        assertThat(AppendFrames.isWholeAppend(message)).isFalse();
        message.writeZero(6);
        assertThat(AppendFrames.isWholeAppend(message)).isFalse();
        for (int length = 0; length < AppendFrames.APPEND_HEAD_BYTES; length++) {
            assertThat(AppendFrames.isWholeAppend(message.slice(0, length))).isFalse();
        }
        ByteBuf backwards = Unpooled.buffer();
        AppendFrames.writeAppendHead(backwards, 99, 104, 100, 0, 1);
        assertThat(AppendFrames.isWholeAppend(backwards)).isFalse();
    }

    @Test
    void theOtherMessagesOfAStreamComeBackAsWritten() {
        ByteBuf open = Unpooled.buffer();
        AppendFrames.Open written = new AppendFrames.Open(PARTITION, new SegmentId(9), 4, 1_000, -7);
        AppendFrames.writeOpen(open, written);
        assertThat(open.readableBytes()).isEqualTo(AppendFrames.OPEN_BYTES);
        assertThat(AppendFrames.readOpen(open)).isEqualTo(written);
        assertThatThrownBy(() -> AppendFrames.readOpen(open.slice(0, 48)))
                .isInstanceOf(IndexOutOfBoundsException.class);

        ByteBuf checkpoint = Unpooled.buffer();
        AppendFrames.writeCheckpointHead(checkpoint, 77);
        checkpoint.writeInt(5);
        assertThat(AppendFrames.offset(checkpoint)).isEqualTo(77);
        assertThat(AppendFrames.state(checkpoint).readInt()).isEqualTo(5);

        ByteBuf failed = Unpooled.buffer();
        AppendFrames.writeFailed(failed, 2, 55);
        assertThat(failed.readableBytes()).isEqualTo(AppendFrames.FAILED_BYTES);
        assertThat(AppendFrames.failedStatus(failed)).isEqualTo(2);
        assertThat(AppendFrames.failedEnd(failed)).isEqualTo(55);
        assertThat(AppendFrames.type(Unpooled.EMPTY_BUFFER)).isZero();
    }

    @Test
    void fencesAndTheirAnswersComeBackAsWritten() {
        List<StorageCodec.Fence> fences = List.of(
                new StorageCodec.Fence(PARTITION, 3, new SegmentId(1), 0),
                new StorageCodec.Fence(PARTITION, 4, new SegmentId(2), Long.MIN_VALUE));
        ByteBuf request = Unpooled.buffer();
        StorageCodec.writeFences(request, fences);
        assertThat(request.readableBytes()).isEqualTo(StorageCodec.fencesBytes(2));
        assertThat(StorageCodec.readFences(request)).isEqualTo(fences);

        List<StorageCodec.ReplicaState> replicas = List.of(
                new StorageCodec.ReplicaState(0, 10, 9, 8, true, 7),
                new StorageCodec.ReplicaState(8, -1, -1, 0, false, 2));
        ByteBuf reply = Unpooled.buffer();
        StorageCodec.writeReplicas(reply, replicas);
        assertThat(StorageCodec.readReplicas(reply)).isEqualTo(replicas);

        ByteBuf read = Unpooled.buffer();
        StorageCodec.Read wanted = new StorageCodec.Read(new SegmentId(3), 5, 1 << 20, 2);
        StorageCodec.writeRead(read, wanted);
        assertThat(StorageCodec.readRead(read)).isEqualTo(wanted);
    }

    @Test
    void aListThatClaimsMoreThanThereIsIsRefusedBeforeAnythingIsAllocated() {
        assertThatThrownBy(() -> StorageCodec.readFences(Unpooled.buffer().writeInt(Integer.MAX_VALUE)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> StorageCodec.readFences(Unpooled.buffer().writeInt(-1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() ->
                        StorageCodec.readReplicas(Unpooled.buffer().writeInt(1).writeZero(29)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
