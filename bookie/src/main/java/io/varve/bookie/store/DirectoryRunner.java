package io.varve.bookie.store;

import io.varve.base.FaultHandler;
import io.varve.bookie.journal.JournalLoop;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The threads of one directory. */
final class DirectoryRunner implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(DirectoryRunner.class);

    /** How often the disk is looked at when nothing else happens. */
    private static final long LOOK_NS = TimeUnit.SECONDS.toNanos(1);

    private final DirectoryStore store;
    private final JournalLoop loop;
    private final FaultHandler faults;
    private final Thread housekeeper;
    private volatile boolean closing;

    DirectoryRunner(DirectoryStore store, FaultHandler faults) throws IOException {
        this.store = store;
        this.faults = faults;
        this.loop = new JournalLoop(store.start(), store.disk.name(), faults);
        store.attach(loop::submit);
        this.housekeeper = new Thread(this::keepHouse, "housekeeping-" + store.disk.name());
        housekeeper.setDaemon(true);
        store.files().whenTaken(() -> LockSupport.unpark(housekeeper));
        housekeeper.start();
    }

    DirectoryStore store() {
        return store;
    }

    private void keepHouse() {
        Housekeeping housekeeping = new Housekeeping(store, loop::wake);
        try {
            while (!closing) {
                try {
                    if (!housekeeping.step()) {
                        store.onHousekeepingIdle();
                        LockSupport.parkNanos(this, LOOK_NS);
                    }
                } catch (IOException failure) {
                    store.goOutOfService("housekeeping", failure);
                    loop.wake();
                }
            }
        } catch (Throwable fault) {
            faults.onFault("housekeeping", fault);
        }
    }

    @Override
    public void close() {
        closing = true;
        LockSupport.unpark(housekeeper);
        boolean interrupted = false;
        while (housekeeper.isAlive()) {
            try {
                housekeeper.join();
            } catch (InterruptedException retry) {
                interrupted = true;
            }
        }
        loop.close();
        try {
            store.settledFiles().close();
            store.files().close();
            store.disk.close();
        } catch (IOException trouble) {
            LOG.warn("close=failed directory={} why=\"{}\"", store.disk.name(), trouble.toString());
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
