package io.varve.bookie.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.disk.SimDisk;
import java.io.IOException;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * A small journal, cut at every byte, and with a bit flipped at every place: each start must say of each segment either all that was acknowledged, or UNKNOWN; and where
 * the power alone can be to blame, never UNKNOWN. The oracle of the simulation judges.
 */
class JournalDamageTest {

    /** Every place when many seeds are asked for, every eleventh (which meets every alignment) in an ordinary build. */
    private static final int STEP = Integer.getInteger("varve.simulation.seeds", 200) >= 1000 ? 1 : 11;

    private static final String FILE = "journal/0000000000000001.journal";

    /** A world whose store has come to rest; with a mark at the end of its journal or without. */
    private static StoreWorld atRest(boolean marked) throws IOException {
        StoreWorld world = new StoreWorld(7, 1);
        world.open();
        world.live(45);
        if (marked) {
            world.closeCleanly();
        } else {
            world.settleDown();
        }
        return world;
    }

    /** Of header and groups; the last block is the reach. */
    private static int usedBytes(SimDisk disk) {
        byte[] bytes = disk.bytes(FILE);
        int used = (int) JournalFormat.groupsEnd(bytes.length);
        while (bytes[used - 1] == 0) {
            used--;
        }
        return used;
    }

    /** I-18, I-5: with a mark behind it, whatever is changed is known to have been durable. */
    @Test
    void aFlippedBitAtAnyPlaceLosesNothingSilently() throws IOException {
        StoreWorld world = atRest(true);
        SimDisk intact = world.disks.get(0).copy(1);
        int used = usedBytes(intact);
        assertThat(used).isGreaterThan(4096);
        SplittableRandom random = new SplittableRandom(3);
        int unknown = 0;
        for (int at = 0; at < used; at += STEP) {
            StoreWorld after = world.copyWith(intact.copy(at));
            after.disks.get(0).flip(FILE, at, random.nextInt(8));
            after.mayBeUnknown = true;
            after.open();
            unknown += after.unknownAnswers;
        }
        assertThat(unknown).isGreaterThan(used / 10 / STEP);
    }

    /** A journal file has its full length before it is used: one that is shorter has lost something, wherever it ends. */
    @Test
    void aFileCutAtAnyByteIsNeverTakenForWhole() throws IOException {
        StoreWorld world = atRest(true);
        SimDisk intact = world.disks.get(0).copy(1);
        int used = usedBytes(intact);
        for (int at = 0; at <= used; at += STEP) {
            StoreWorld after = world.copyWith(intact.copy(at));
            after.disks.get(0).cutOff(FILE, at);
            after.mayBeUnknown = true;
            after.open();
            assertThat(after.unknownAnswers).isPositive();
        }
    }

    /** What the power cut may leave of the last group, at every byte: a torn tail is dropped, everything before it is kept, and nobody says UNKNOWN. */
    @Test
    void aTornLastGroupIsDroppedAndNothingElse() throws IOException {
        StoreWorld world = atRest(false);
        world.beginGroup();
        SimDisk before = world.disks.get(0).copy(1);
        int durable = usedBytes(before);
        world.flushUntold();
        byte[] written = world.disks.get(0).bytes(FILE);
        int end = usedBytes(world.disks.get(0).copy(1));
        assertThat(end).isGreaterThan(durable);
        int start = (durable + 4095) / 4096 * 4096;
        for (int cut = start; cut <= end; cut += STEP) {
            SimDisk torn = before.copy(cut);
            torn.overwrite(FILE, start, written, start, cut - start);
            StoreWorld after = world.copyWith(torn);
            after.open();
        }
    }
}
