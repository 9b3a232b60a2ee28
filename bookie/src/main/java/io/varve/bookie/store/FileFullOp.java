package io.varve.bookie.store;

import io.varve.bookie.journal.JournalOp;
import io.varve.bookie.journal.JournalWriter;

/** A journal file is full; when the op is durable, so is the whole file, and its snapshot is due. */
final class FileFullOp extends JournalOp {

    private final FullFiles fullFiles;
    private final Snapshot snapshot;

    FileFullOp(FullFiles fullFiles, Snapshot snapshot) {
        this.fullFiles = fullFiles;
        this.snapshot = snapshot;
    }

    @Override
    protected int roomBytes() {
        return 0;
    }

    @Override
    protected void encode(JournalWriter to) {}

    @Override
    protected void onDurable() {
        fullFiles.onFull(snapshot);
    }

    @Override
    protected void onLost() {}
}
