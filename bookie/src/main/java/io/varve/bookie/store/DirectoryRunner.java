package io.varve.bookie.store;

import io.varve.base.FaultHandler;
import io.varve.bookie.core.SettlePace;
import io.varve.bookie.journal.JournalLoop;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The threads of one directory. */
final class DirectoryRunner implements Closeable {

    /** How often the disk is looked at when nothing else happens. */
    private static final long LOOK_NS = TimeUnit.SECONDS.toNanos(1);

    private final DirectoryStore store;
    private final JournalLoop loop;
    private final FaultHandler faults;
    private final Thread housekeeper;
    private final Thread settler;
    private final Thread scrubber;
    private volatile boolean closing;

    DirectoryRunner(DirectoryStore store, FaultHandler faults) throws IOException {
        this.store = store;
        this.faults = faults;
        this.loop = new JournalLoop(store.start(), store.disk.name(), faults);
        store.attach(loop::submit);
        this.housekeeper = thread("housekeeping", this::keepHouse);
        store.files().whenTaken(() -> LockSupport.unpark(housekeeper));
        this.settler = thread("settler", this::settle);
        this.scrubber = thread("scrub", this::scrub);
        housekeeper.start();
        settler.start();
        scrubber.start();
    }

    private Thread thread(String what, Runnable body) {
        Thread thread = new Thread(
                () -> {
                    try {
                        body.run();
                    } catch (Throwable fault) {
                        faults.onFault(what, fault);
                    }
                },
                what + "-" + store.disk.name());
        thread.setDaemon(true);
        return thread;
    }

    private void keepHouse() {
        Housekeeping housekeeping = new Housekeeping(store, loop::wake);
        while (!closing) {
            try {
                if (!housekeeping.step()) {
                    store.onHousekeepingIdle();
                    LockSupport.parkNanos(this, LOOK_NS);
                }
            } catch (IOException failure) {
                store.onTrouble("housekeeping", failure);
                loop.wake();
                LockSupport.parkNanos(this, LOOK_NS);
            }
        }
    }

    private void settle() {
        StoreOptions options = store.shared.options;
        Settler work = new Settler(
                store,
                bytes -> pause(
                        bytes,
                        SettlePace.bytesPerSecond(
                                options.settleBytesPerSecond(),
                                store.fullFiles().backlogBytes(),
                                options.unsettledBytesMax())));
        while (!closing) {
            try {
                if (!work.step()) {
                    LockSupport.parkNanos(this, LOOK_NS / 10);
                }
            } catch (IOException failure) {
                store.onTrouble("settle", failure);
                loop.wake();
                LockSupport.parkNanos(this, LOOK_NS);
            }
        }
    }

    private void scrub() {
        long bytesPerSecond = store.shared.options.scrubBytesPerSecond();
        Scrubber work = new Scrubber(store, bytes -> pause(bytes, bytesPerSecond));
        while (!closing && bytesPerSecond > 0) {
            if (!work.step()) {
                LockSupport.parkNanos(this, LOOK_NS);
            }
        }
    }

    /** Waits as long as so many bytes should take; answers whether to go on. */
    private boolean pause(int bytes, long bytesPerSecond) {
        long untilNs = System.nanoTime() + (long) (bytes * 1e9 / bytesPerSecond);
        for (long leftNs = untilNs - System.nanoTime(); leftNs > 0 && !closing; leftNs = untilNs - System.nanoTime()) {
            LockSupport.parkNanos(this, leftNs);
        }
        return !closing;
    }

    @Override
    public void close() throws IOException {
        // The journal may need one more file: whoever makes them goes last.
        loop.close();
        closing = true;
        boolean interrupted = false;
        for (Thread thread : List.of(housekeeper, settler, scrubber)) {
            LockSupport.unpark(thread);
            while (thread.isAlive()) {
                try {
                    thread.join();
                } catch (InterruptedException retry) {
                    interrupted = true;
                }
            }
        }
        store.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
