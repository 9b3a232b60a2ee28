package io.varve.protocol.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

class RecordBatchHeaderTest {

    /** Laid out by hand from the field list of Kafka's protocol, so that the test does not share the code's idea of where things stand. */
    private static ByteBuffer batch(int attributes, byte[] records) {
        ByteBuffer batch = ByteBuffer.allocate(61 + records.length + 3);
        batch.position(3); // Batches rarely begin at 0.
        batch.putLong(1000)
                .putInt(49 + records.length)
                .putInt(7)
                .put((byte) 2)
                .putInt(0)
                .putShort((short) attributes)
                .putInt(4)
                .putLong(1_700_000_000_000L)
                .putLong(1_700_000_000_900L)
                .putLong(55)
                .putShort((short) 3)
                .putInt(Integer.MAX_VALUE - 1)
                .putInt(5)
                .put(records);
        CRC32C crc = new CRC32C();
        crc.update(batch.array(), 3 + 21, batch.position() - 3 - 21);
        batch.putInt(3 + 17, (int) crc.getValue());
        return batch.flip();
    }

    @Test
    void everyFieldIsReadFromItsPlace() {
        ByteBuffer in = batch(0x10 | 0x08 | 3, new byte[20]);
        assertThat(RecordBatchHeader.isIntact(in, 3)).isTrue();
        assertThat(RecordBatchHeader.baseOffset(in, 3)).isEqualTo(1000);
        assertThat(RecordBatchHeader.lastOffset(in, 3)).isEqualTo(1004);
        assertThat(RecordBatchHeader.sizeInBytes(in, 3)).isEqualTo(81);
        assertThat(RecordBatchHeader.leaderEpoch(in, 3)).isEqualTo(7);
        assertThat(RecordBatchHeader.magic(in, 3)).isEqualTo(RecordBatchHeader.MAGIC);
        assertThat(RecordBatchHeader.compression(in, 3)).isEqualTo(3);
        assertThat(RecordBatchHeader.isLogAppendTime(in, 3)).isTrue();
        assertThat(RecordBatchHeader.isTransactional(in, 3)).isTrue();
        assertThat(RecordBatchHeader.isControl(in, 3)).isFalse();
        assertThat(RecordBatchHeader.baseTimestampMs(in, 3)).isEqualTo(1_700_000_000_000L);
        assertThat(RecordBatchHeader.maxTimestampMs(in, 3)).isEqualTo(1_700_000_000_900L);
        assertThat(RecordBatchHeader.producerId(in, 3)).isEqualTo(55);
        assertThat(RecordBatchHeader.producerEpoch(in, 3)).isEqualTo((short) 3);
        assertThat(RecordBatchHeader.baseSequence(in, 3)).isEqualTo(Integer.MAX_VALUE - 1);
        assertThat(RecordBatchHeader.count(in, 3)).isEqualTo(5);
    }

    @Test
    void sequenceNumbersWrapRoundToZero() {
        // 2^31 - 2, 2^31 - 1, 0, 1, 2
        assertThat(RecordBatchHeader.lastSequence(batch(0, new byte[0]), 3)).isEqualTo(2);
    }

    @Test
    void offsetAndEpochAreSetWithoutTouchingTheChecksum() {
        ByteBuffer in = batch(0, new byte[10]);
        RecordBatchHeader.setBaseOffset(in, 3, 5_000_000_000L);
        RecordBatchHeader.setLeaderEpoch(in, 3, 8);
        assertThat(RecordBatchHeader.isIntact(in, 3)).isTrue();
        assertThat(RecordBatchHeader.lastOffset(in, 3)).isEqualTo(5_000_000_004L);
        assertThat(RecordBatchHeader.leaderEpoch(in, 3)).isEqualTo(8);
    }

    @Test
    void aMarkersTypeIsRead() {
        // length 16, attributes, time 0, offset 0, key of 4 bytes: version 0, type 1; value of 6 bytes; no headers
        byte[] commit =
                HexFormat.of().parseHex("20" + "00" + "00" + "00" + "08" + "00000001" + "0c" + "000000000007" + "00");
        assertThat(RecordBatchHeader.controlType(batch(0x30, commit), 3)).isEqualTo(OptionalInt.of(1));
        assertThat(RecordBatchHeader.isControl(batch(0x30, commit), 3)).isTrue();
        assertThat(RecordBatchHeader.controlType(batch(0x30, new byte[] {2, 0}), 3))
                .isEmpty();
        assertThat(RecordBatchHeader.controlType(batch(0x30, new byte[0]), 3)).isEmpty();
    }

    @Test
    void anyFlippedBitUnderTheChecksumIsFound() {
        ByteBuffer good = batch(0, new byte[8]);
        for (int bit = 17 * 8; bit < (good.limit() - 3) * 8; bit++) {
            ByteBuffer bad = ByteBuffer.wrap(good.array().clone());
            int at = 3 + bit / 8;
            bad.put(at, (byte) (bad.get(at) ^ 1 << bit % 8));
            assertThat(RecordBatchHeader.isIntact(bad, 3)).as("bit " + bit).isFalse();
        }
    }

    @Test
    void whatIsCutShortOrImpossibleIsNeverWholeAndNeverThrows() {
        ByteBuffer good = batch(0, new byte[8]);
        for (int limit = 0; limit < good.limit(); limit++) {
            assertThat(RecordBatchHeader.isWhole(good.duplicate().limit(limit), 3))
                    .isFalse();
        }
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 20_000; i++) {
            byte[] noise = new byte[80];
            random.nextBytes(noise);
            noise[16] = 2;
            if (i % 2 == 0) {
                noise[8] = noise[9] = noise[10] = 0;
            }
            ByteBuffer in = ByteBuffer.wrap(noise);
            if (RecordBatchHeader.isWhole(in, 0)) {
                assertThat(RecordBatchHeader.sizeInBytes(in, 0)).isBetween(61, 80);
                RecordBatchHeader.controlType(in, 0);
            }
            assertThat(RecordBatchHeader.isIntact(in, 0)).isFalse();
        }
    }
}
