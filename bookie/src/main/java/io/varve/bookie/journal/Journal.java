package io.varve.bookie.journal;

import io.varve.base.Invariant;
import io.varve.bookie.core.GroupCommit;
import io.varve.bookie.core.JournalFormat;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongFunction;

/**
 * The journal of one directory, without its threads: {@link JournalLoop} runs it on two, and a simulation steps it.
 *
 * <pre>
 *  any thread            journal's thread                         flusher
 *  submit ──► queue ──► encode into the forming group ──► slot ──► write, fsync ──► done ──► complete: callbacks
 *                          ▲                               │
 *                          └───────── take back ◄──────────┘  (while the flusher is busy, the group in the slot goes on growing)
 * </pre>
 *
 * So a group holds what arrived while the one before was written, without a timer, and the disk never waits for the encoding of what could go with it.
 */
public final class Journal {

    /** Ops encoded between two looks at the flusher: so that it never waits long for a group that is being added to. */
    private static final int ROUND_OPS = 64;

    private final JournalFiles files;
    private final JournalWriter writer;
    private final Listener listener;
    private final AtomicReference<JournalOp> queue = new AtomicReference<>();
    private final AtomicReference<Group> slot = new AtomicReference<>();
    private final ConcurrentLinkedQueue<Group> done = new ConcurrentLinkedQueue<>();
    private final AtomicLong pendingBytes = new AtomicLong();
    private JournalOp drained;
    private boolean waitsForFile;
    private volatile boolean lookAgain;
    private boolean unproven;
    private boolean failureTold;
    private int inFlight;
    private volatile IOException failure;
    private volatile boolean flushing;
    private volatile long flushingSinceNs;

    /** What the directory learns. Called on the journal's thread. */
    public interface Listener {
        /** The ops of a group, all told that they are durable, are done with. */
        void onGroupDone(int ops, int bytes, long flushNs);

        /** A write or an fsync failed; nothing more is written (I-12). */
        void onFailed(IOException failure);
    }

    /**
     * @param files with at least one ready
     * @param sequence of the first record
     * @param onFileFull see {@link JournalWriter}
     */
    public Journal(
            JournalFiles files,
            RecentGroups recent,
            int groupBytesMax,
            long fileBytes,
            long sequence,
            long incarnation,
            LongFunction<JournalOp> onFileFull,
            Listener listener) {
        this.files = files;
        this.writer = new JournalWriter(
                files,
                recent,
                new GroupCommit(groupBytesMax, JournalFormat.groupsEnd(fileBytes), sequence),
                incarnation,
                onFileFull);
        this.listener = listener;
    }

    /** Memory for the newest groups. */
    public static RecentGroups recentGroups(int groupBytesMax, long recentBytesMax) {
        return new RecentGroups(groupBytesMax, recentBytesMax);
    }

    /** Queues an op. Any thread; the caller then wakes the journal's thread. */
    void submit(JournalOp op) {
        pendingBytes.addAndGet(op.pendingBytes());
        JournalOp head;
        do {
            head = queue.get();
            op.next = head;
        } while (!queue.compareAndSet(head, op));
    }

    /** Bytes handed in that aren't durable yet. */
    public long pendingBytes() {
        return pendingBytes.get();
    }

    /** The number of the next record. Journal's thread. */
    public long nextSequence() {
        return writer.nextSequence();
    }

    /** Nothing is written any more (I-12): the directory's disk has failed elsewhere. Any thread. */
    public void fail(IOException why) {
        if (failure == null) {
            failure = why;
        }
    }

    /** Why the journal failed, or {@code null}. Any thread. */
    public IOException failure() {
        return failure;
    }

    /** Whether there is anything for {@link #work} to do. Journal's thread. */
    boolean hasWork() {
        if (!done.isEmpty()) {
            return true;
        }
        if (drained == null && queue.get() == null) {
            return false;
        }
        if (failure != null) {
            return true;
        }
        Group forming = writer.forming();
        boolean flusherIsBehind = forming != null && forming.full && slot.get() == forming;
        return !flusherIsBehind && !(waitsForFile && files.readyCount() == 0 && !lookAgain);
    }

    /**
     * The directory has changed so that what waits for a journal file may now be refused instead. The caller then wakes the journal's thread. Any thread.
     */
    public void lookAgain() {
        lookAgain = true;
    }

    /** Whether something was written that no later record proves to have been durable. */
    boolean isUnproven() {
        return unproven;
    }

    /** Whether everything handed in is done with. Journal's thread. */
    boolean isIdle() {
        Group forming = writer.forming();
        return done.isEmpty()
                && drained == null
                && queue.get() == null
                && (forming == null || forming.ops.isEmpty())
                && inFlight == 0;
    }

    /** Completes what is done and encodes what is queued. Journal's thread. */
    void work() {
        for (Group group = done.poll(); group != null; group = done.poll()) {
            complete(group);
        }
        if (failure != null) {
            failQueued();
            return;
        }
        encodeRound();
    }

    private void encodeRound() {
        waitsForFile = false;
        lookAgain = false;
        Group published = writer.forming();
        if (published != null && published.ops.isEmpty()) {
            // It was begun for an op that had no place in any file, and never handed over.
            published = null;
        } else if (published != null && !slot.compareAndSet(published, null)) {
            writer.onFormingTaken();
        }
        for (int ops = 0; ops < ROUND_OPS; ops++) {
            JournalOp op = nextQueued();
            if (op == null) {
                break;
            }
            JournalWriter.Outcome outcome = writer.tryEncode(op);
            if (outcome != JournalWriter.Outcome.ENCODED) {
                waitsForFile = outcome == JournalWriter.Outcome.NO_FILE;
                break;
            }
            drained = op.next;
            op.next = null;
        }
        Group forming = writer.forming();
        if (forming != null && !forming.ops.isEmpty()) {
            if (forming != published) {
                inFlight++;
            }
            slot.set(forming);
        }
    }

    private JournalOp nextQueued() {
        if (drained == null) {
            JournalOp newestFirst = queue.getAndSet(null);
            while (newestFirst != null) {
                JournalOp rest = newestFirst.next;
                newestFirst.next = drained;
                drained = newestFirst;
                newestFirst = rest;
            }
        }
        return drained;
    }

    /** The next group to write, or {@code null}. Flusher. */
    Group takeForFlush() {
        return slot.getAndSet(null);
    }

    /** Whether {@link #takeForFlush} would find one. */
    boolean hasForFlush() {
        return slot.get() != null;
    }

    /** For how long the group that is being written has been on its way: 0 if none is. Any thread. */
    public long flushingNs(long nowNs) {
        return flushing ? nowNs - flushingSinceNs : 0;
    }

    /** Writes a group, unless one before it failed. Flusher. */
    void flush(Group group, long nowNs) {
        if (failure == null) {
            flushingSinceNs = nowNs;
            flushing = true;
            try {
                group.flush();
            } catch (IOException trouble) {
                failure = trouble;
            } finally {
                flushing = false;
            }
        }
        group.failure = failure;
        done.add(group);
    }

    private void complete(Group group) {
        inFlight--;
        if (group == writer.forming()) {
            writer.onFormingTaken();
        }
        group.slab.release();
        List<JournalOp> ops = group.ops;
        if (group.failure == null) {
            for (int at = 0; at < ops.size(); at++) {
                ops.get(at).onDurable();
            }
            if (group.bytes() > 0) {
                unproven = !(ops.size() == 1 && ops.get(0) instanceof MarkOp);
            }
            listener.onGroupDone(ops.size(), group.bytes(), group.flushNs);
        } else {
            tellFailure();
            for (int at = 0; at < ops.size(); at++) {
                ops.get(at).onLost();
            }
        }
        Invariant.check(pendingBytes.addAndGet(-group.pendingBytes) >= 0, "what is pending isn't negative");
    }

    private void tellFailure() {
        if (!failureTold) {
            failureTold = true;
            listener.onFailed(failure);
        }
    }

    /** Tells everything that is queued that it is lost, once the journal's thread is no more. Any thread. */
    synchronized void abandonQueued() {
        for (JournalOp op = nextQueued(); op != null; op = nextQueued()) {
            drained = op.next;
            op.next = null;
            op.onLost();
        }
    }

    private void failQueued() {
        tellFailure();
        for (JournalOp op = nextQueued(); op != null; op = nextQueued()) {
            drained = op.next;
            op.next = null;
            pendingBytes.addAndGet(-op.pendingBytes());
            op.onLost();
        }
    }
}
