package io.varve.metadata.client;

import io.varve.metadata.api.MetadataDelta;
import io.varve.metadata.api.MetadataListener;
import io.varve.metadata.core.Deltas;
import io.varve.metadata.core.MetadataImage;
import io.varve.metadata.core.SnapshotReplay;
import io.varve.protocol.meta.MetadataRecord;
import io.varve.protocol.meta.WatchBatch;
import io.varve.protocol.meta.WatchChange;
import io.varve.protocol.meta.WatchMessage;
import io.varve.protocol.meta.WatchSnapshotPart;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The client's copy of the metadata, made from what the watch sends, and those who wait for it to get somewhere. Written by the client's thread alone; the view is read by any.
 */
final class ViewKeeper {

    private final List<MetadataListener> listeners = new CopyOnWriteArrayList<>();
    private final NavigableMap<Long, List<Runnable>> waiting = new TreeMap<>();
    private volatile MetadataImage view = MetadataImage.EMPTY;

    /** A whole state under way, or null. */
    private SnapshotReplay incoming;

    MetadataImage view() {
        return view;
    }

    void add(MetadataListener listener) {
        MetadataImage now = view;
        listeners.add(listener);
        listener.onChange(MetadataImage.EMPTY, now, Deltas.everything(MetadataImage.EMPTY, now));
    }

    void remove(MetadataListener listener) {
        listeners.remove(listener);
    }

    /** Runs {@code task} once the view is at least at {@code version}: now, or later on this thread. */
    void whenAt(long version, Runnable task) {
        if (view.version() >= version) {
            task.run();
        } else {
            waiting.computeIfAbsent(version, v -> new ArrayList<>()).add(task);
        }
    }

    /** The watch begins anew: half a state is none. */
    void onWatchStarted() {
        incoming = null;
    }

    void onMessage(WatchMessage message) {
        switch (message.getMessageCase()) {
            case BATCH -> onBatch(message.getBatch());
            case SNAPSHOT -> onSnapshotPart(message.getSnapshot());
            case MESSAGE_NOT_SET -> {
                // Of a later version; what it says will come in a form that is understood, or the watch starts over.
            }
        }
    }

    private void onBatch(WatchBatch batch) {
        MetadataImage before = view;
        MetadataImage after = before;
        List<MetadataRecord> all = new ArrayList<>();
        for (WatchChange change : batch.getChangesList()) {
            if (change.getVersion() > after.version()) {
                after = after.replay(change.getVersion(), change.getRecordsList());
                all.addAll(change.getRecordsList());
            }
        }
        if (after != before) {
            advance(before, after, Deltas.of(before, all));
        }
    }

    private void onSnapshotPart(WatchSnapshotPart part) {
        if (part.getFirst()) {
            incoming = new SnapshotReplay();
        }
        if (incoming == null) {
            return;
        }
        for (MetadataRecord record : part.getRecordsList()) {
            incoming.add(record);
        }
        if (part.getLast()) {
            MetadataImage before = view;
            MetadataImage after = incoming.finish(part.getVersion(), part.getDigest());
            incoming = null;
            if (after.version() >= before.version()) {
                advance(before, after, Deltas.everything(before, after));
            }
        }
    }

    private void advance(MetadataImage before, MetadataImage after, MetadataDelta delta) {
        view = after;
        listeners.forEach(listener -> listener.onChange(before, after, delta));
        NavigableMap<Long, List<Runnable>> reached = waiting.headMap(after.version(), true);
        List<Runnable> tasks = new ArrayList<>();
        reached.values().forEach(tasks::addAll);
        reached.clear();
        tasks.forEach(Runnable::run);
    }
}
