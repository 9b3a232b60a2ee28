package io.varve.serving.kafka.restore;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.junit.jupiter.api.Test;

class NewestByKeyTest {

    private static final long PRODUCER = 7;

    private final NewestByKey newest = new NewestByKey();
    private long offset;

    @Test
    void onlyTheNewestOfAKeyLivesAndOrderIsThatOfWriting() {
        plain("a", "1");
        plain("b", "2");
        plain("a", "3");
        assertThat(living()).containsExactly("b=2@1", "a=3@2");
    }

    @Test
    void aTombstoneTakesItsKeyAndItselfAway() {
        plain("a", "1");
        plain("a", null);
        plain("b", "2");
        assertThat(living()).containsExactly("b=2@2");
    }

    @Test
    void whatIsInATransactionCountsOnceItIsCommitted() {
        plain("a", "1");
        inTransaction("a", "2");
        assertThat(living()).containsExactly("a=1@0");
        end(ControlRecordType.COMMIT);
        assertThat(living()).containsExactly("a=2@1");
    }

    @Test
    void whatWasAbortedNeverWas() {
        plain("a", "1");
        inTransaction("a", "2");
        inTransaction("b", "3");
        end(ControlRecordType.ABORT);
        assertThat(living()).containsExactly("a=1@0");
    }

    @Test
    void aPlainWriteAfterTheTransactionalOneStaysTheNewest() {
        inTransaction("a", "1");
        plain("a", "2");
        end(ControlRecordType.COMMIT);
        assertThat(living()).containsExactly("a=2@1");
    }

    private List<String> living() {
        return newest.inOrder().stream()
                .map(kept -> text(kept.key()) + "=" + text(kept.value()) + "@" + kept.offset())
                .toList();
    }

    private void plain(String key, String value) {
        add(MemoryRecords.withRecords(Compression.NONE, record(key, value)));
    }

    private void inTransaction(String key, String value) {
        add(MemoryRecords.withTransactionalRecords(Compression.NONE, PRODUCER, (short) 0, 0, record(key, value)));
    }

    private void end(ControlRecordType how) {
        add(MemoryRecords.withEndTransactionMarker(PRODUCER, (short) 0, new EndTransactionMarker(how, 0)));
    }

    private void add(MemoryRecords records) {
        MutableRecordBatch batch = records.batchIterator().next();
        batch.setLastOffset(offset++);
        newest.add(batch);
    }

    private static SimpleRecord record(String key, String value) {
        return new SimpleRecord(
                1, key.getBytes(StandardCharsets.UTF_8), value == null ? null : value.getBytes(StandardCharsets.UTF_8));
    }

    private static String text(ByteBuffer bytes) {
        return StandardCharsets.UTF_8.decode(bytes.duplicate()).toString();
    }
}
