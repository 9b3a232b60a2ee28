package io.varve.serving.core.share;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.serving.core.share.Deliveries.Verdict;
import io.varve.serving.core.share.Deliveries.Write;
import io.varve.sim.SimSeeds;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Members acquire, speak, go and time out, writes fail, and owners are taken over, by a seed. The oracle keeps one entry for each offset and
 * shares no code with the runs: no two members ever have a record, what was stored as dealt with never comes again, and in the end, when members
 * only accept, everything is dealt with.
 */
final class DeliveriesSimulation {

    private static final int OFFSETS = 60;
    private static final int STEPS = 400;
    private static final ShareLimits LIMITS = new ShareLimits(50, 3, 25);
    private static final List<String> MEMBERS = List.of("a", "b", "c");

    static LongStream seeds() {
        return SimSeeds.all();
    }

    /** Who has a record, until when. */
    private record Lock(String member, long untilMs) {}

    private final TreeMap<Long, Lock> locks = new TreeMap<>();
    private final TreeMap<Long, DeliveryState> stored = new TreeMap<>();
    private long storedStart;
    private long nowMs;

    @ParameterizedTest
    @MethodSource("seeds")
    void everyRecordIsWithOneMemberAtATimeAndDealtWithInTheEnd(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Deliveries deliveries = Deliveries.of(0, List.of());
        for (int step = 0; step < STEPS; step++) {
            String member = MEMBERS.get(random.nextInt(MEMBERS.size()));
            switch (random.nextInt(8)) {
                case 0, 1, 2 -> acquire(deliveries, member, random);
                case 3, 4 -> speak(deliveries, member, random);
                case 5 -> {
                    nowMs += random.nextInt(30);
                    deliveries.expire(LIMITS, nowMs);
                    locks.values().removeIf(lock -> lock.untilMs <= nowMs);
                }
                case 6 -> store(deliveries, random.nextInt(4) > 0);
                default -> {
                    if (random.nextInt(6) == 0) {
                        deliveries = takeOver();
                    } else {
                        deliveries.releaseAll(member);
                        locks.values().removeIf(lock -> lock.member.equals(member));
                    }
                }
            }
            check(deliveries);
        }
        finish(deliveries);
    }

    private void acquire(Deliveries deliveries, String member, SplittableRandom random) {
        long first = deliveries.nextOffset();
        long last = Math.min(OFFSETS - 1, first + random.nextInt(12));
        if (first > last) {
            return;
        }
        List<Span> batches = new ArrayList<>();
        for (long at = first; at <= last; ) {
            long end = Math.min(last, at + random.nextInt(5));
            batches.add(new Span(at, end));
            at = end + 1;
        }
        for (Acquired range :
                deliveries.acquire(member, batches, 1 + random.nextInt(8), random.nextBoolean(), LIMITS, nowMs)) {
            for (long offset = range.firstOffset(); offset <= range.lastOffset(); offset++) {
                assertThat(range.deliveries()).isBetween(1, LIMITS.deliveriesMax());
                assertThat(locks.put(offset, new Lock(member, nowMs + LIMITS.lockMs())))
                        .as("nobody else has %d", offset)
                        .isNull();
                assertThat(offset).isGreaterThanOrEqualTo(storedStart);
                assertThat(stored.getOrDefault(offset, DeliveryState.AVAILABLE).isFinal())
                        .as("%d was dealt with", offset)
                        .isFalse();
            }
        }
    }

    private void speak(Deliveries deliveries, String member, SplittableRandom random) {
        long first = random.nextInt(OFFSETS);
        long last = Math.min(OFFSETS - 1, first + random.nextInt(4));
        List<Byte> types = new ArrayList<>();
        for (long offset = first; offset <= last; offset++) {
            types.add((byte) random.nextInt(5));
        }
        boolean his = true;
        for (long offset = Math.max(first, deliveries.startOffset()); offset <= last; offset++) {
            his &= locks.containsKey(offset) && locks.get(offset).member.equals(member);
        }
        long start = deliveries.startOffset();
        Verdict verdict =
                deliveries.acknowledge(member, List.of(new Acknowledgement(first, last, types)), LIMITS, nowMs);
        assertThat(verdict).isEqualTo(his ? Verdict.TAKEN : Verdict.NOT_ACQUIRED);
        for (long offset = Math.max(first, start); his && offset <= last; offset++) {
            if (types.get((int) (offset - first)) == Acknowledgement.RENEW) {
                locks.put(offset, new Lock(member, nowMs + LIMITS.lockMs()));
            } else {
                locks.remove(offset);
            }
        }
    }

    private void store(Deliveries deliveries, boolean succeeds) {
        Optional<Write> write = deliveries.takeWrite();
        if (write.isEmpty()) {
            return;
        }
        if (!succeeds) {
            deliveries.giveBack(write.get());
            return;
        }
        storedStart = write.get().startOffset();
        for (StateBatch batch : write.get().changed()) {
            for (long offset = batch.firstOffset(); offset <= batch.lastOffset(); offset++) {
                stored.put(offset, batch.state());
            }
        }
        stored.headMap(storedStart).clear();
    }

    private Deliveries takeOver() {
        locks.clear();
        List<StateBatch> batches = new ArrayList<>();
        stored.forEach((offset, state) -> batches.add(new StateBatch(offset, offset, state, 0)));
        return Deliveries.of(storedStart, batches);
    }

    private void check(Deliveries deliveries) {
        long finals = 0;
        for (StateBatch batch : deliveries.all()) {
            finals += batch.state().isFinal() ? batch.lastOffset() - batch.firstOffset() + 1 : 0;
            for (long offset = batch.firstOffset(); offset <= batch.lastOffset(); offset++) {
                assertThat(batch.state() == DeliveryState.ACQUIRED)
                        .as("%d is locked", offset)
                        .isEqualTo(locks.containsKey(offset));
            }
        }
        assertThat(deliveries.endOffset() - deliveries.startOffset() - finals)
                .isLessThanOrEqualTo(LIMITS.inFlightMax());
    }

    private void finish(Deliveries deliveries) {
        nowMs += LIMITS.lockMs();
        deliveries.expire(LIMITS, nowMs);
        for (int round = 0; round < OFFSETS && deliveries.startOffset() < OFFSETS; round++) {
            for (Acquired range :
                    deliveries.acquire("a", List.of(new Span(0, OFFSETS - 1)), OFFSETS, true, LIMITS, nowMs)) {
                deliveries.acknowledge(
                        "a",
                        List.of(new Acknowledgement(
                                range.firstOffset(), range.lastOffset(), List.of(Acknowledgement.ACCEPT))),
                        LIMITS,
                        nowMs);
            }
        }
        assertThat(deliveries.startOffset()).isEqualTo(OFFSETS);
        assertThat(deliveries.all()).isEmpty();
    }
}
