package io.varve.serving.core.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.protocol.record.RecordBatchHeader;
import io.varve.serving.core.compaction.CompactedLog.Seen;
import io.varve.serving.core.compaction.CompactionPlan.Group;
import io.varve.serving.core.compaction.CompactionPlan.Segment;
import io.varve.serving.core.compaction.CompactionPlan.Wishes;
import io.varve.serving.core.partition.AbortedTxns.Aborted;
import io.varve.serving.core.partition.LogState;
import io.varve.serving.core.partition.ProducerStates;
import io.varve.serving.core.partition.ProducerStates.Verdict;
import io.varve.serving.kafka.record.KafkaRecordCodec;
import io.varve.sim.SimRandomness;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.junit.jupiter.api.Test;

/**
 * Logs of all kinds of producers that are compacted again and again as they grow, by passes some of which die half-way and some of which have room for few
 * keys. The oracle knows nothing of batches: it remembers what was written and what became of each transaction, and says of each record whether it must
 * be there, must be gone, or may be either; what is there is what was written (I-2).
 */
class CompactionSimulation {

    private static final int SEEDS = 150;
    private static final int STEPS = 220;

    @Test
    void readersAndProducersAreToldTheSameAfterEachPassAsBefore() {
        int passes = 0;
        int left = 0;
        int partial = 0;
        for (long seed = 1; seed <= SEEDS; seed++) {
            World world = new World(seed);
            try {
                for (int step = 0; step < STEPS; step++) {
                    world.step();
                }
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("seed " + seed, e);
            }
            passes += world.passes;
            left += world.left;
            partial += world.partial;
        }
        assertThat(passes).as("passes in all").isGreaterThan(SEEDS);
        assertThat(left).as("segments that stayed as they were").isGreaterThan(SEEDS / 3);
        assertThat(partial)
                .as("segments with more keys than there was room for")
                .isGreaterThan(10);
    }

    /** @param txn which transaction, -1 for none */
    private record Written(Seen record, int txn) {}

    private static final class Producer {
        private final long id;
        private final boolean transactional;
        private short epoch;
        private int sequence;
        private int txn = -1;
        private long txnFirstOffset;

        private Producer(long id, boolean transactional) {
            this.id = id;
            this.transactional = transactional;
        }
    }

    private static final class Stretch {
        private final long base;
        private final List<ByteBuffer> batches = new ArrayList<>();
        /** Exclusive: passes have looked at what lies below. */
        private long compactedEnd;

        private Stretch(long base) {
            this.base = base;
            this.compactedEnd = base;
        }

        private long end() {
            return batches.isEmpty() ? base : lastOffset(batches.get(batches.size() - 1)) + 1;
        }

        private Segment segment() {
            long bytes = batches.stream().mapToLong(ByteBuffer::remaining).sum();
            return new Segment(base, end(), bytes, compactedEnd, -1, -1);
        }
    }

    private static final class World {
        private final SimRandomness random;
        private final CompactedLog original = new CompactedLog();
        private final LogState owner = LogState.empty(0);
        private final List<Producer> producers = new ArrayList<>();
        private final List<Stretch> sealed = new ArrayList<>();
        private Stretch open = new Stretch(0);

        private final TreeMap<Long, Written> written = new TreeMap<>();
        private final TreeMap<Integer, Boolean> committed = new TreeMap<>();
        /** Tombstones by offset: when a pass that lived saw them first. */
        private final TreeMap<Long, Long> tombstoneSeenMs = new TreeMap<>();

        private final int keys;
        private int txns;
        private int values;
        private int passes;
        private int left;
        private int partial;

        private World(long seed) {
            random = new SimRandomness(seed);
            keys = 1 + random.nextInt(30);
            for (int i = 0; i < 4; i++) {
                producers.add(new Producer(100 + i, i >= 2));
            }
        }

        // ---- what happens

        private void step() {
            // In steps that meet horizons exactly, and with pauses in which they pass.
            original.nowMs += random.percent(3) ? 2 * CompactedLog.RETENTION_MS : 50 * random.nextInt(3);
            original.epoch += random.percent(3) ? 1 : 0;
            int dice = random.nextInt(100);
            if (dice < 30) {
                plain();
            } else if (dice < 80) {
                of(producers.get(random.nextInt(producers.size())));
            } else if (dice < 92) {
                roll();
            } else {
                compact();
            }
        }

        private void plain() {
            original.codec = CompressionType.values()[random.nextInt(CompressionType.values().length)];
            long base = original.end();
            TimestampType times = random.percent(20) ? TimestampType.LOG_APPEND_TIME : TimestampType.CREATE_TIME;
            original.put(-1, (short) -1, -1, false, times, records(base, -1, times));
            appended();
        }

        private void of(Producer producer) {
            if (producer.transactional && producer.txn >= 0 && random.percent(45)) {
                end(producer);
                return;
            }
            long base = original.end();
            if (producer.transactional && producer.txn < 0) {
                producer.txn = txns++;
                producer.txnFirstOffset = base;
            }
            SimpleRecord[] records = records(base, producer.txn, TimestampType.CREATE_TIME);
            original.put(
                    producer.id,
                    producer.epoch,
                    producer.sequence,
                    producer.transactional,
                    TimestampType.CREATE_TIME,
                    records);
            producer.sequence += records.length;
            appended();
        }

        /** Half of the markers raise their producer's epoch, as from transaction version 2 on (KIP-890). */
        private void end(Producer producer) {
            boolean commit = random.percent(60);
            if (random.percent(50)) {
                producer.epoch++;
                producer.sequence = 0;
            }
            if (!commit) {
                original.aborted.add(
                        new Aborted(producer.id, producer.txnFirstOffset, original.end(), original.end() + 1));
            }
            original.marker(producer.id, producer.epoch, commit);
            committed.put(producer.txn, commit);
            producer.txn = -1;
            appended();
        }

        private SimpleRecord[] records(long base, int txn, TimestampType times) {
            SimpleRecord[] records = new SimpleRecord[1 + random.nextInt(4)];
            for (int i = 0; i < records.length; i++) {
                String key = "key" + random.nextInt(keys);
                String value = random.percent(25) ? null : "value" + values++;
                long timeMs = original.nowMs - random.nextInt(500);
                records[i] = CompactedLog.record(timeMs, key, value);
                long shownMs = times == TimestampType.LOG_APPEND_TIME ? original.nowMs : timeMs;
                written.put(base + i, new Written(new Seen(base + i, key, value, shownMs), txn));
            }
            return records;
        }

        private void appended() {
            ByteBuffer batch = original.batches.get(original.batches.size() - 1);
            owner.apply(batch, batch.remaining(), original.nowMs);
            open.batches.add(batch);
        }

        private void roll() {
            if (!open.batches.isEmpty()) {
                sealed.add(open);
                open = new Stretch(original.end());
            }
        }

        // ---- compaction, as the owner does it

        private void compact() {
            List<Segment> segments = sealed.stream().map(Stretch::segment).toList();
            Wishes wishes = new Wishes(
                    random.percent(50) ? 0 : 0.4, 0, Long.MAX_VALUE, 200 + random.nextInt(3_000), original.nowMs);
            CompactionPlan plan =
                    CompactionPlan.of(segments, stableOffset(), wishes).orElse(null);
            if (plan == null) {
                return;
            }
            CompactionPass pass = new CompactionPass(
                    new CompactionRules(
                            original.nowMs,
                            CompactedLog.RETENTION_MS,
                            CompactedLog.INFLATED_MAX,
                            original.aborted,
                            owner.producers().lastBatches()),
                    plan.dirtyOffset(),
                    new NewestOffsets(random.percent(20) ? NewestOffsets.BYTES_MIN : 24 << 8, 1, 2),
                    new KafkaRecordCodec());
            observe(plan, pass);
            List<Group> groups = plan.groupsWithin(pass.observedEnd());
            int lived = random.percent(20) ? random.nextInt(groups.size() + 1) : groups.size();
            long coveredEnd = 0;
            int gone = 0;
            for (Group group : groups.subList(0, lived)) {
                Stretch single = sealed.get(group.fromIndex() - gone);
                coveredEnd = plan.isSettled(group)
                        ? look(pass, single)
                        : replace(pass, group.fromIndex() - gone, group.toIndex() - gone);
                coveredEnd = Math.min(coveredEnd, pass.observedEnd());
                gone += group.toIndex() - group.fromIndex() - 1;
            }
            passes++;
            check(coveredEnd, pass.observedEnd());
        }

        private void observe(CompactionPlan plan, CompactionPass pass) {
            for (Stretch stretch : sealed) {
                if (stretch.end() > plan.dirtyOffset() && stretch.end() <= plan.endOffset()) {
                    for (ByteBuffer batch : stretch.batches) {
                        if (lastOffset(batch) >= plan.dirtyOffset() && !pass.observe(batch)) {
                            return;
                        }
                    }
                }
            }
        }

        private long replace(CompactionPass pass, int from, int to) {
            Stretch output = new Stretch(sealed.get(from).base);
            long endOffset = sealed.get(to - 1).end();
            for (Stretch input : sealed.subList(from, to)) {
                input.batches.forEach(batch -> pass.rewrite(batch, output.batches::add));
            }
            pass.endSegment(endOffset, output.batches::add);
            output.compactedEnd = Math.min(endOffset, pass.observedEnd());
            partial += output.compactedEnd < endOffset ? 1 : 0;
            sealed.subList(from, to).clear();
            sealed.add(from, output);
            return endOffset;
        }

        /** A segment that passes have looked at stays as it is if nothing goes from it, and is put together of what stays and what changes otherwise. */
        private long look(CompactionPass pass, Stretch single) {
            SegmentLook look = new SegmentLook(pass, single.base);
            int at = 0;
            while (at < single.batches.size() && look.at(single.batches.get(at))) {
                at++;
            }
            if (look.changes()) {
                Stretch output = new Stretch(single.base);
                single.batches.stream()
                        .filter(batch -> lastOffset(batch) < look.unchangedEnd())
                        .forEach(output.batches::add);
                output.batches.addAll(look.handedOn());
                single.batches
                        .subList(at + 1, single.batches.size())
                        .forEach(batch -> pass.rewrite(batch, output.batches::add));
                pass.endSegment(single.end(), output.batches::add);
                output.compactedEnd = single.end();
                sealed.set(sealed.indexOf(single), output);
            } else {
                pass.endSegment(single.end(), kept -> {});
                left++;
            }
            return single.end();
        }

        private long stableOffset() {
            long stable = original.end();
            for (Producer producer : producers) {
                stable = producer.txn < 0 ? stable : Math.min(stable, producer.txnFirstOffset);
            }
            return stable;
        }

        // ---- the oracle

        private void check(long coveredEnd, long observedEnd) {
            CompactedLog now = compactedLog();
            TreeMap<Long, Seen> present = new TreeMap<>();
            now.seen().forEach(seen -> present.put(seen.offset(), seen));
            checkRecords(present, coveredEnd, observedEnd);
            checkEpochs(now);
            LogState replayed = LogState.empty(0);
            now.batches.forEach(batch -> replayed.apply(batch, batch.remaining(), original.nowMs));
            checkProducers(replayed.producers());
            checkAborted(replayed);
            checkReadCommitted(now, present);
        }

        private CompactedLog compactedLog() {
            CompactedLog now = new CompactedLog();
            List<Stretch> all = new ArrayList<>(sealed);
            all.add(open);
            for (Stretch stretch : all) {
                assertThat(stretch.base).isEqualTo(now.end());
                for (ByteBuffer batch : stretch.batches) {
                    assertThat(RecordBatchHeader.isIntact(batch, batch.position()))
                            .isTrue();
                    assertThat(RecordBatchHeader.baseOffset(batch, batch.position()))
                            .isEqualTo(now.end());
                    now.add(batch);
                }
            }
            assertThat(now.end()).isEqualTo(original.end());
            return now;
        }

        private void checkRecords(TreeMap<Long, Seen> present, long coveredEnd, long observedEnd) {
            present.forEach((offset, seen) ->
                    assertThat(seen).isEqualTo(written.get(offset).record()));
            TreeMap<String, Long> newest = new TreeMap<>();
            for (Map.Entry<Long, Written> entry : written.descendingMap().entrySet()) {
                long offset = entry.getKey();
                Seen record = entry.getValue().record();
                boolean isThere = present.containsKey(offset);
                if (isUndecided(entry.getValue())) {
                    assertThat(isThere).as("undecided %s", record).isTrue();
                } else if (isAborted(entry.getValue())) {
                    assertThat(isThere && offset < coveredEnd)
                            .as("aborted %s", record)
                            .isFalse();
                } else if (newest.containsKey(record.key())) {
                    boolean mustGo = offset < coveredEnd && newest.get(record.key()) < observedEnd;
                    assertThat(isThere && mustGo).as("superseded %s", record).isFalse();
                } else {
                    newest.put(record.key(), offset);
                    checkNewest(record, isThere, coveredEnd);
                    assertOlderStayAway(record, isThere, present);
                }
            }
        }

        private void checkNewest(Seen record, boolean isThere, long coveredEnd) {
            Long seenMs = tombstoneSeenMs.get(record.offset());
            boolean mayGo =
                    record.value() == null && seenMs != null && original.nowMs >= seenMs + CompactedLog.RETENTION_MS;
            assertThat(isThere || mayGo)
                    .as("newest %s, first seen at %s", record, seenMs)
                    .isTrue();
            assertThat(isThere && mayGo && record.offset() < coveredEnd)
                    .as("a tombstone beyond its time: %s", record)
                    .isFalse();
            if (record.value() == null && record.offset() < coveredEnd) {
                tombstoneSeenMs.putIfAbsent(record.offset(), original.nowMs);
            }
        }

        /** What a tombstone took away must not come back when that goes. */
        private void assertOlderStayAway(Seen record, boolean isThere, TreeMap<Long, Seen> present) {
            if (!isThere) {
                for (Seen older : present.headMap(record.offset()).values()) {
                    assertThat(older.key().equals(record.key())
                                    && !isAborted(written.get(older.offset()))
                                    && !isUndecided(written.get(older.offset())))
                            .as("%s behind a tombstone that is gone", older)
                            .isFalse();
                }
            }
        }

        private void checkEpochs(CompactedLog now) {
            assertThat(epochStarts(now)).isEqualTo(epochStarts(original));
        }

        private static TreeMap<Integer, Long> epochStarts(CompactedLog log) {
            TreeMap<Integer, Long> starts = new TreeMap<>();
            log.kafkaBatches().forEach(batch -> starts.putIfAbsent(batch.partitionLeaderEpoch(), batch.baseOffset()));
            return starts;
        }

        /** A takeover that finds no checkpoint replays the log: it must come to the same producers and transactions. */
        private void checkProducers(ProducerStates replayed) {
            assertThat(replayed.lastStableOffset(original.end())).isEqualTo(stableOffset());
            assertThat(replayed.lastBatches()).isEqualTo(owner.producers().lastBatches());
            for (Producer producer : producers) {
                boolean wrote =
                        owner.producers().lastBatches().stream().anyMatch(last -> last.producerId() == producer.id);
                if (wrote) {
                    assertThat(replayed.checkClient(
                                    producer.id, producer.epoch, producer.sequence, 1, producer.transactional, true))
                            .isEqualTo(Verdict.ACCEPT);
                    assertThat(replayed.checkClient(
                                    producer.id,
                                    producer.epoch,
                                    producer.sequence + 5,
                                    1,
                                    producer.transactional,
                                    true))
                            .isEqualTo(Verdict.OUT_OF_ORDER);
                }
            }
        }

        /** Transactions that a replay finds aborted are those that were, and none has taken in what came before it. */
        private void checkAborted(LogState replayed) {
            List<Aborted> found = new ArrayList<>();
            replayed.aborted().collect(0, original.end(), found);
            for (Aborted one : found) {
                assertThat(original.aborted)
                        .as("aborted: %s", one)
                        .anyMatch(real -> real.producerId() == one.producerId()
                                && real.markerOffset() == one.markerOffset()
                                && real.firstOffset() <= one.firstOffset());
            }
        }

        /**
         * A stock consumer is given batches below the last stable offset and the list of what was aborted. It drops all of a producer's records from the
         * first of an aborted transaction to the next abort marker, so what is listed must have its marker; and nothing aborted is left where a pass has been.
         */
        private void checkReadCommitted(CompactedLog now, TreeMap<Long, Seen> present) {
            long stable = stableOffset();
            TreeSet<Long> delivered = new TreeSet<>();
            TreeSet<Long> dropping = new TreeSet<>();
            List<Aborted> listed = new ArrayList<>(original.aborted);
            listed.removeIf(aborted -> aborted.markerOffset() < compactedEnd());
            now.kafkaBatches().forEach(batch -> {
                listed.removeIf(
                        aborted -> aborted.firstOffset() <= batch.lastOffset() && dropping.add(aborted.producerId()));
                if (batch.lastOffset() >= stable) {
                    return;
                }
                if (batch.isControlBatch()) {
                    if (isAbortMarker(batch)) {
                        dropping.remove(batch.producerId());
                    }
                } else if (!batch.isTransactional() || !dropping.contains(batch.producerId())) {
                    batch.forEach(record -> delivered.add(record.offset()));
                }
            });
            TreeSet<Long> expected = new TreeSet<>();
            present.headMap(stable).keySet().forEach(offset -> {
                if (!isAborted(written.get(offset))) {
                    expected.add(offset);
                }
            });
            assertThat(delivered).isEqualTo(expected);
        }

        private static boolean isAbortMarker(RecordBatch marker) {
            return ControlRecordType.parse(marker.iterator().next().key()) == ControlRecordType.ABORT;
        }

        private long compactedEnd() {
            long end = 0;
            for (Stretch stretch : sealed) {
                end = stretch.compactedEnd;
                if (end < stretch.end()) {
                    break;
                }
            }
            return end;
        }

        private boolean isAborted(Written one) {
            return Boolean.FALSE.equals(one.txn() < 0 ? null : committed.get(one.txn()));
        }

        private boolean isUndecided(Written one) {
            return one.txn() >= 0 && !committed.containsKey(one.txn());
        }
    }

    private static long lastOffset(ByteBuffer batch) {
        return RecordBatchHeader.lastOffset(batch, batch.position());
    }
}
