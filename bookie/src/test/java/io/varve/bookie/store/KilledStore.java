package io.varve.bookie.store;

import io.varve.base.SegmentId;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieStatus;
import java.nio.file.Path;
import java.util.concurrent.Semaphore;

/**
 * The process that {@link KillStoreIT} kills: takes over the segments of the life before, says where it found their ends, and then appends as fast as it can,
 * saying what was acknowledged. {@code KilledStore DIR LIFE}.
 */
final class KilledStore {

    static final int SEGMENTS = 4;
    static final String FULL_STOP = " .";

    private KilledStore() {}

    static long segment(int life, int slot) {
        return (long) life * SEGMENTS + slot + 1;
    }

    static int entryBytes(long offset) {
        return (int) (offset * 7919 % 5000);
    }

    public static void main(String[] args) {
        int life = Integer.parseInt(args[1]);
        StoreFixture it = StoreFixture.open(Path.of(args[0]));
        for (int slot = 0; slot < SEGMENTS; slot++) {
            if (life > 0) {
                long before = segment(life - 1, slot);
                FenceReply found = it.fence(before, life);
                say("found " + before + " " + found.status() + " " + found.end());
                if (found.status() == BookieStatus.OK) {
                    StoreFixture.await(it.store.seal(new SegmentId(before), life, found.end()));
                    // What is two lives old is deleted, so that journal files are used again under fire.
                    if (life > 2) {
                        StoreFixture.await(it.store.delete(new SegmentId(segment(life - 3, slot)), 0));
                    }
                }
            }
            it.create(segment(life, slot), life, 0);
            say("created " + segment(life, slot));
        }
        Semaphore inFlight = new Semaphore(500);
        for (long offset = 0; ; offset++) {
            for (int slot = 0; slot < SEGMENTS; slot++) {
                long segment = segment(life, slot);
                inFlight.acquireUninterruptibly();
                it.appendLater(segment, life, offset, 1, entryBytes(offset)).thenAccept(answer -> {
                    say("acknowledged " + segment + " " + answer.status() + " " + answer.end());
                    inFlight.release();
                });
            }
        }
    }

    private static synchronized void say(String line) {
        System.out.println(line + FULL_STOP);
        System.out.flush();
    }
}
