package io.varve.serving.core.share;

import io.varve.base.Invariant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The deliveries of one partition to one share group (KIP-932). Offsets below {@link #startOffset} are dealt with; those from {@link #endOffset}
 * on were never handed out; those in between are runs of offsets that stand alike, without a gap.
 *
 * <p>Acquired records are locked for their member until a time; when it is over they are available again, or given up if they were handed out
 * as often as is allowed. What has changed and is to survive this broker is collected by {@link #takeWrite}; that is everything but locks.
 * A write that fails is given back by {@link #giveBack}, so that the next one has it in it.
 *
 * <p>Single owner: the caller serializes.
 */
public final class Deliveries {

    /** Runs, however short, that may lie between start and end: bounds memory when a single record holds up the start for long. */
    private static final int RUNS_MAX = 20_000;

    private static final long NEVER_MS = Long.MAX_VALUE;

    private final TreeMap<Long, Run> runs = new TreeMap<>();
    private long startOffset;
    private long endOffset;
    private long finalOffsets;
    private boolean startMoved;

    private Deliveries(long startOffset) {
        this.startOffset = startOffset;
        this.endOffset = startOffset;
    }

    /** Offsets that stand alike. */
    private static final class Run {
        private final long first;
        private long last;
        private DeliveryState state;
        private int deliveries;
        private String member = "";
        private long lockedUntilMs = NEVER_MS;
        private boolean unwritten;

        private Run(long first, long last, DeliveryState state, int deliveries) {
            this.first = first;
            this.last = last;
            this.state = state;
            this.deliveries = deliveries;
        }

        private long length() {
            return last - first + 1;
        }

        private boolean isLike(Run other) {
            return state == other.state
                    && unwritten == other.unwritten
                    && (state.isFinal() || state == DeliveryState.AVAILABLE && deliveries == other.deliveries);
        }
    }

    /**
     * As it was stored. Offsets between stored ones are available: they were handed out and the answer never came.
     *
     * @param startOffset where the group stands
     * @param stored in order, from {@code startOffset} on
     */
    public static Deliveries of(long startOffset, List<StateBatch> stored) {
        Deliveries deliveries = new Deliveries(startOffset);
        for (StateBatch batch : stored) {
            long first = Math.max(batch.firstOffset(), deliveries.endOffset);
            if (first > batch.lastOffset()) {
                continue;
            }
            if (first > deliveries.endOffset) {
                deliveries.extend(first - 1, DeliveryState.AVAILABLE, 0);
            }
            DeliveryState state = batch.state() == DeliveryState.ACQUIRED ? DeliveryState.AVAILABLE : batch.state();
            deliveries.extend(batch.lastOffset(), state, batch.deliveries());
        }
        deliveries.tidy();
        return deliveries;
    }

    /** Below it everything is dealt with. */
    public long startOffset() {
        return startOffset;
    }

    /** From it on nothing was ever handed out. */
    public long endOffset() {
        return endOffset;
    }

    /** From where to read what can be acquired next. */
    public long nextOffset() {
        for (Run run : runs.values()) {
            if (run.state == DeliveryState.AVAILABLE) {
                return run.first;
            }
        }
        return endOffset;
    }

    /** Whether anything may be acquired now, if the log has it. */
    public boolean mayAcquire(ShareLimits limits) {
        return nextOffset() < endOffset || roomFor(limits) > 0;
    }

    private long roomFor(ShareLimits limits) {
        return runs.size() >= RUNS_MAX ? 0 : limits.inFlightMax() - (endOffset - startOffset - finalOffsets);
    }

    // ---- acquiring

    /**
     * Hands records out.
     *
     * @param batches the record batches that were read, in order
     * @param recordsMax how many are wanted
     * @param exactly whether it may be no more; else the batch with the last of them is handed out as a whole
     */
    public List<Acquired> acquire(
            String member, List<Span> batches, int recordsMax, boolean exactly, ShareLimits limits, long nowMs) {
        List<Acquired> acquired = new ArrayList<>();
        long count = 0;
        for (Span batch : batches) {
            long wanted = recordsMax - count;
            if (wanted <= 0) {
                break;
            }
            count += acquire(member, batch, exactly ? wanted : Long.MAX_VALUE, limits, nowMs, acquired);
        }
        tidy();
        return acquired;
    }

    private long acquire(
            String member, Span batch, long countMax, ShareLimits limits, long nowMs, List<Acquired> acquired) {
        long count = 0;
        long offset = Math.max(batch.firstOffset(), startOffset);
        while (offset <= batch.lastOffset() && count < countMax) {
            Run run = runFrom(offset, batch.lastOffset(), limits);
            if (run == null) {
                break;
            }
            if (run.state == DeliveryState.AVAILABLE) {
                split(offset);
                run = runs.get(offset);
                split(Math.min(Math.min(run.last, batch.lastOffset()), offset + (countMax - count) - 1) + 1);
                lock(run, member, nowMs + limits.lockMs());
                add(acquired, run);
                count += run.length();
            }
            offset = run.last + 1;
        }
        return count;
    }

    /** The run with {@code offset} in it, made for what was never handed out as far as there is room; null if there is none. */
    private Run runFrom(long offset, long lastOffset, ShareLimits limits) {
        if (offset < endOffset) {
            return runs.floorEntry(offset).getValue();
        }
        long room = roomFor(limits);
        if (room <= 0) {
            return null;
        }
        if (offset > endOffset) {
            // The log has nothing there.
            extend(offset - 1, DeliveryState.ARCHIVED, 0);
        }
        return extend(Math.min(lastOffset, offset + room - 1), DeliveryState.AVAILABLE, 0);
    }

    private static void lock(Run run, String member, long untilMs) {
        run.state = DeliveryState.ACQUIRED;
        run.deliveries++;
        run.member = member;
        run.lockedUntilMs = untilMs;
    }

    private static void add(List<Acquired> acquired, Run run) {
        Acquired before = acquired.isEmpty() ? null : acquired.get(acquired.size() - 1);
        boolean joins = before != null && before.lastOffset() + 1 == run.first && before.deliveries() == run.deliveries;
        if (joins) {
            acquired.set(acquired.size() - 1, new Acquired(before.firstOffset(), run.last, run.deliveries));
        } else {
            acquired.add(new Acquired(run.first, run.last, run.deliveries));
        }
    }

    /** There is nothing for anybody at these offsets, though the log has records there: those of an aborted transaction. */
    public void skip(Span span) {
        if (span.lastOffset() >= endOffset) {
            extend(span.lastOffset(), DeliveryState.AVAILABLE, 0);
        }
        long first = Math.max(span.firstOffset(), startOffset);
        if (first <= span.lastOffset()) {
            split(first);
            split(span.lastOffset() + 1);
            for (Run run : runs.subMap(first, true, span.lastOffset(), true).values()) {
                if (run.state == DeliveryState.AVAILABLE) {
                    settle(run, DeliveryState.ARCHIVED);
                }
            }
            tidy();
        }
    }

    // ---- what members say

    /** What comes of acknowledgements. */
    public enum Verdict {
        /** They count. */
        TAKEN,
        /** They make no sense. Nothing of them counts. */
        MALFORMED,
        /** Some of the offsets are not the member's: its lock ran out, or it never had them. Nothing of them counts. */
        NOT_ACQUIRED
    }

    /** Takes all acknowledgements, or none. What lies below the start is dealt with already and passed over. */
    public Verdict acknowledge(String member, List<Acknowledgement> all, ShareLimits limits, long nowMs) {
        long before = -1;
        for (Acknowledgement one : all) {
            if (!one.isWellFormed() || one.firstOffset() <= before) {
                return Verdict.MALFORMED;
            }
            before = one.lastOffset();
            if (!has(member, one)) {
                return Verdict.NOT_ACQUIRED;
            }
        }
        for (Acknowledgement one : all) {
            apply(one, limits, nowMs);
        }
        tidy();
        return Verdict.TAKEN;
    }

    private boolean has(String member, Acknowledgement one) {
        long offset = Math.max(one.firstOffset(), startOffset);
        while (offset <= one.lastOffset()) {
            if (offset >= endOffset) {
                return false;
            }
            Run run = runs.floorEntry(offset).getValue();
            if (run.state != DeliveryState.ACQUIRED || !run.member.equals(member)) {
                return false;
            }
            offset = run.last + 1;
        }
        return true;
    }

    private void apply(Acknowledgement one, ShareLimits limits, long nowMs) {
        long offset = Math.max(one.firstOffset(), startOffset);
        while (offset <= one.lastOffset()) {
            byte type = one.typeOf(offset);
            long last = offset;
            while (last < one.lastOffset() && one.typeOf(last + 1) == type) {
                last++;
            }
            split(offset);
            split(last + 1);
            for (Run run : runs.subMap(offset, true, last, true).values()) {
                switch (type) {
                    case Acknowledgement.ACCEPT -> settle(run, DeliveryState.ACKNOWLEDGED);
                    case Acknowledgement.RELEASE -> release(run, limits);
                    case Acknowledgement.RENEW -> run.lockedUntilMs = nowMs + limits.lockMs();
                    default -> settle(run, DeliveryState.ARCHIVED);
                }
            }
            offset = last + 1;
        }
    }

    /** A member is gone. What it holds is available again, as if it had never been handed out. */
    public void releaseAll(String member) {
        for (Run run : runs.values()) {
            if (run.state == DeliveryState.ACQUIRED && run.member.equals(member)) {
                run.deliveries--;
                settle(run, DeliveryState.AVAILABLE);
            }
        }
        tidy();
    }

    // ---- time and retention

    /** Ends the locks whose time is over. Answers whether there were any. */
    public boolean expire(ShareLimits limits, long nowMs) {
        boolean any = false;
        for (Run run : runs.values()) {
            if (run.state == DeliveryState.ACQUIRED && run.lockedUntilMs <= nowMs) {
                release(run, limits);
                any = true;
            }
        }
        tidy();
        return any;
    }

    /** When the next lock ends, {@link Long#MAX_VALUE} if there is none. */
    public long nextExpiryMs() {
        long next = NEVER_MS;
        for (Run run : runs.values()) {
            next = Math.min(next, run.state == DeliveryState.ACQUIRED ? run.lockedUntilMs : NEVER_MS);
        }
        return next;
    }

    /** The log begins at {@code logStart} now: what lay below is gone, whoever had it. */
    public void startAt(long logStart) {
        if (logStart <= startOffset) {
            return;
        }
        if (logStart >= endOffset) {
            runs.clear();
            finalOffsets = 0;
            endOffset = logStart;
        } else {
            split(logStart);
            for (Run run : runs.headMap(logStart).values()) {
                finalOffsets -= run.state.isFinal() ? run.length() : 0;
            }
            runs.headMap(logStart).clear();
        }
        startOffset = logStart;
        startMoved = true;
        tidy();
    }

    // ---- storing

    /**
     * What is to be stored.
     *
     * @param startOffset where the group stands
     * @param finalOffsets how many offsets above that are dealt with
     * @param changed what has changed above it, in order
     */
    public record Write(long startOffset, int finalOffsets, List<StateBatch> changed) {}

    /** What has changed since the last write; empty if nothing has. */
    public Optional<Write> takeWrite() {
        List<StateBatch> changed = new ArrayList<>();
        for (Run run : runs.values()) {
            if (run.unwritten) {
                run.unwritten = false;
                DeliveryState state = run.state == DeliveryState.ACQUIRED ? DeliveryState.AVAILABLE : run.state;
                changed.add(new StateBatch(run.first, run.last, state, run.deliveries));
            }
        }
        if (changed.isEmpty() && !startMoved) {
            return Optional.empty();
        }
        startMoved = false;
        tidy();
        return Optional.of(new Write(startOffset, (int) Math.min(Integer.MAX_VALUE, finalOffsets), changed));
    }

    /** It isn't known that {@code failed} was stored. */
    public void giveBack(Write failed) {
        startMoved = true;
        for (StateBatch batch : failed.changed()) {
            for (Run run : runs.values()) {
                run.unwritten |= run.first <= batch.lastOffset() && run.last >= batch.firstOffset();
            }
        }
        tidy();
    }

    /** Everything, in order, for those who look. */
    public List<StateBatch> all() {
        return runs.values().stream()
                .map(run -> new StateBatch(run.first, run.last, run.state, run.deliveries))
                .toList();
    }

    // ---- runs

    private void release(Run run, ShareLimits limits) {
        settle(run, run.deliveries >= limits.deliveriesMax() ? DeliveryState.ARCHIVED : DeliveryState.AVAILABLE);
    }

    private void settle(Run run, DeliveryState to) {
        Invariant.check(!run.state.isFinal(), "what is dealt with stays so");
        run.state = to;
        run.member = "";
        run.lockedUntilMs = NEVER_MS;
        run.unwritten = true;
        finalOffsets += to.isFinal() ? run.length() : 0;
    }

    private Run extend(long lastOffset, DeliveryState state, int deliveries) {
        Run run = new Run(endOffset, lastOffset, state, deliveries);
        runs.put(endOffset, run);
        endOffset = lastOffset + 1;
        finalOffsets += state.isFinal() ? run.length() : 0;
        return run;
    }

    /** Makes a run begin at {@code offset}, if it lies inside one. */
    private void split(long offset) {
        if (offset <= startOffset || offset >= endOffset) {
            return;
        }
        Run whole = runs.floorEntry(offset).getValue();
        if (whole.first == offset) {
            return;
        }
        Run rest = new Run(offset, whole.last, whole.state, whole.deliveries);
        rest.member = whole.member;
        rest.lockedUntilMs = whole.lockedUntilMs;
        rest.unwritten = whole.unwritten;
        whole.last = offset - 1;
        runs.put(offset, rest);
    }

    /** Moves the start over what is dealt with, and joins neighbours that stand alike. */
    private void tidy() {
        Map.Entry<Long, Run> first = runs.firstEntry();
        while (first != null && first.getValue().state.isFinal()) {
            runs.pollFirstEntry();
            finalOffsets -= first.getValue().length();
            startOffset = first.getValue().last + 1;
            startMoved = true;
            first = runs.firstEntry();
        }
        Run before = null;
        for (var each = runs.values().iterator(); each.hasNext(); ) {
            Run run = each.next();
            Invariant.check(run.first == (before == null ? startOffset : before.last + 1), "runs follow one another");
            if (before != null && before.isLike(run)) {
                before.last = run.last;
                each.remove();
            } else {
                before = run;
            }
        }
        Invariant.check((before == null ? startOffset : before.last + 1) == endOffset, "runs reach the end");
    }
}
