package io.varve.serving.core.partition;

import io.varve.sim.SimRandomness;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** Checkpoints whose checksum is right and whose content is nonsense: refused or read, never more memory than bytes, never another exception. */
class CheckpointFuzz {

    @Test
    void nonsenseWithARightChecksumIsRefusedCleanly() {
        for (long seed = 1; seed <= 20_000; seed++) {
            SimRandomness random = new SimRandomness(seed);
            ByteBuffer bytes = ByteBuffer.allocate(45 + random.nextInt(200));
            for (int at = 0; at < bytes.limit(); at++) {
                bytes.put(at, (byte) (random.percent(60) ? 0 : random.nextInt(256)));
            }
            bytes.put(0, (byte) 1);
            CRC32C crc = new CRC32C();
            crc.update(bytes.duplicate().position(5));
            bytes.putInt(1, (int) crc.getValue());
            try {
                LogState.decode(bytes);
            } catch (CheckpointFormatException refused) {
                // As it should be.
            }
        }
    }
}
