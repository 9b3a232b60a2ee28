package io.varve.tiering.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.protocol.storage.EntryFormat;
import io.varve.tiering.compress.Lz4FrameCompression;
import io.varve.tiering.testing.BuiltObject;
import io.varve.tiering.testing.TestSegments;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is written is what is read, and what isn't is said to be damaged. */
class ObjectFormatTest {

    @Test
    void everyOffsetIsFoundByTheTailAndOneBlock() throws Exception {
        BuiltObject object = BuiltObject.of(TestSegments.chain(3, 40, 300, true), 4096, Lz4FrameCompression.INSTANCE);
        ObjectTail tail = object.tail();
        assertThat(tail.index().blocks()).isGreaterThan(5);
        for (TestSegments.Segment segment : object.segments()) {
            for (ByteBuffer entry : segment.entries()) {
                for (long offset = EntryFormat.firstOffset(entry, 0);
                        offset <= EntryFormat.lastOffset(entry, 0);
                        offset++) {
                    Block block = object.block(tail, tail.index().blockOf(offset));
                    assertThat(block.entriesFrom(offset, 1, true)).containsExactly(entry);
                }
            }
        }
    }

    @Test
    void everyTimestampIsFoundByTheTailAndOneBlock() throws Exception {
        BuiltObject object = BuiltObject.of(TestSegments.chain(2, 50, 300, false), 4096, BlockCompression.NONE);
        ObjectTail tail = object.tail();
        List<ByteBuffer> entries =
                object.segments().stream().flatMap(s -> s.entries().stream()).toList();
        for (ByteBuffer wanted : entries) {
            long timestampMs = EntryTimes.maxTimestampMs(wanted, 0);
            ByteBuffer first = entries.stream()
                    .filter(e -> EntryTimes.maxTimestampMs(e, 0) >= timestampMs)
                    .findFirst()
                    .orElseThrow();
            int block = tail.index().blockAtTimestamp(timestampMs).orElseThrow();
            assertThat(object.block(tail, block).entryAtTimestamp(timestampMs))
                    .hasValue(EntryFormat.firstOffset(first, 0));
        }
        assertThat(tail.index().blockAtTimestamp(tail.footer().maxTimestampMs() + 1))
                .isEmpty();
    }

    @Test
    void theObjectSaysWhatItIs() throws Exception {
        BuiltObject object = BuiltObject.of(TestSegments.chain(3, 10, 200, true), 4096, Lz4FrameCompression.INSTANCE);
        ObjectFooter footer = object.tail().footer();
        assertThat(footer.clusterId()).isEqualTo(TestSegments.CLUSTER);
        assertThat(footer.topicName()).isEqualTo("orders");
        assertThat(footer.partition()).isEqualTo(TestSegments.PARTITION);
        assertThat(footer.attemptId()).isEqualTo(77);
        assertThat(footer.segments())
                .hasSize(3)
                .allSatisfy(s -> assertThat(s.epoch()).isEqualTo((int) s.id().value()));
        assertThat(footer.endOffset())
                .isEqualTo(object.segments().get(2).descriptor().endOffset());
        assertThat(footer.entries()).isEqualTo(30);
    }

    /** Checksums are right if a writer was wrong: what a reader asks the index for must be there all the same. */
    @Test
    void anIndexThatDoesNotCoverTheObjectIsDamage() throws Exception {
        BuiltObject object = BuiltObject.of(
                List.of(TestSegments.segment(9, 100, 40, 300, true)), 4096, Lz4FrameCompression.INSTANCE);
        long end = object.tail().footer().endOffset();
        for (long[] bounds : new long[][] {{90, end}, {101, end}, {100, 101}}) {
            assertThatThrownBy(() -> tailOf(object, bounds[0], bounds[1]))
                    .isInstanceOf(ObjectFormatException.class)
                    .hasMessageContaining("the blocks are not of the offsets");
        }
        assertThat(tailOf(object, 100, end)).isInstanceOf(ObjectTail.Result.Found.class);
    }

    /** The tail as a writer writes it that takes the object for one of other offsets. */
    private static ObjectTail.Result tailOf(BuiltObject object, long startOffset, long endOffset)
            throws ObjectFormatException {
        ObjectFooter footer = object.tail().footer();
        ObjectFooter.Segment segment = footer.segments().get(0);
        ObjectFooter other = new ObjectFooter(
                footer.clusterId(),
                footer.topicName(),
                footer.partition(),
                footer.attemptId(),
                startOffset,
                endOffset,
                footer.maxTimestampMs(),
                footer.entries(),
                footer.rawBytes(),
                footer.createdMs(),
                footer.headerCrc(),
                footer.blocksEnd(),
                footer.indexEntryBytes(),
                footer.blocks(),
                footer.indexCrc(),
                footer.sections(),
                List.of(new ObjectFooter.Segment(
                        segment.id(),
                        segment.epoch(),
                        startOffset,
                        endOffset,
                        segment.bytes(),
                        segment.maxTimestampMs(),
                        segment.createdMs(),
                        segment.sealedMs())));
        ByteBuffer all = ByteBuffer.wrap(object.bytes());
        int trailer = all.limit() - ObjectFormat.TRAILER_BYTES;
        int indexBytes = all.getInt(trailer);
        int indexAt = trailer - all.getInt(trailer + 4) - indexBytes;
        ByteBuffer tail = ObjectTail.encode(all.slice(indexAt, indexBytes), other, indexAt);
        return ObjectTail.decode(tail, indexAt + tail.remaining());
    }

    @Test
    void theNewestCheckpointNotAboveAnOffsetIsFound() throws Exception {
        BuiltObject object = BuiltObject.of(TestSegments.chain(3, 10, 200, true), 4096, BlockCompression.NONE);
        ObjectFooter footer = object.tail().footer();
        long second = object.segments().get(1).descriptor().startOffset();
        assertThat(footer.checkpointAtMost(second))
                .hasValueSatisfying(s -> assertThat(s.tag()).isEqualTo(second));
        assertThat(footer.checkpointAtMost(second - 1))
                .hasValueSatisfying(s -> assertThat(s.tag()).isZero());
        ObjectFooter.Section section = footer.checkpointAtMost(second).orElseThrow();
        ByteBuffer state = object.range(section.position(), section.bytes());
        Sections.check(state, section);
        assertThat(state.getLong(0)).isEqualTo(2);
    }

    @Test
    void whereTwoSegmentsMeetEachHasItsOwnCheckpoint() throws Exception {
        List<TestSegments.Segment> chain = TestSegments.chain(2, 10, 200, true);
        long middle = chain.get(1).descriptor().startOffset();
        BuiltObject object = BuiltObject.of(chain, 4096, BlockCompression.NONE, segment -> middle);
        assertThat(owner(object, middle)).isEqualTo(1);
        assertThat(owner(object, middle + 1)).isEqualTo(2);
    }

    /** The id of the segment whose checkpoint is found. */
    private static long owner(BuiltObject object, long atMostOffset) throws Exception {
        ObjectFooter.Section section =
                object.tail().footer().checkpointAtMost(atMostOffset).orElseThrow();
        return object.range(section.position(), section.bytes()).getLong(0);
    }

    @Test
    void blocksAreCompressedOnlyWhereItSaves() throws Exception {
        BuiltObject noise = BuiltObject.of(TestSegments.chain(1, 40, 300, false), 4096, Lz4FrameCompression.INSTANCE);
        BuiltObject text = BuiltObject.of(TestSegments.chain(1, 40, 300, true), 4096, Lz4FrameCompression.INSTANCE);
        for (int block = 0; block < noise.tail().index().blocks(); block++) {
            assertThat(noise.tail().index().codec(block)).isEqualTo(BlockIndex.CODEC_RAW);
        }
        for (int block = 0; block < text.tail().index().blocks(); block++) {
            assertThat(text.tail().index().codec(block)).isEqualTo(BlockIndex.CODEC_LZ4_FRAME);
        }
        assertThat(text.bytes().length).isLessThan(noise.bytes().length / 2);
    }

    @Test
    void anEntryLargerThanABlockHasABlockOfItsOwn() throws Exception {
        BuiltObject object = BuiltObject.of(TestSegments.chain(1, 5, 20_000, false), 4096, BlockCompression.NONE);
        assertThat(object.tail().index().blocks()).isEqualTo(5);
        assertThat(object.entries()).isEqualTo(object.segments().get(0).entries());
    }

    @Test
    void aTailLongerThanTheFirstReadIsAskedForAgain() throws Exception {
        BuiltObject object = BuiltObject.of(TestSegments.chain(1, 200, 100, false), 200, BlockCompression.NONE);
        ByteBuffer last = object.range(object.bytes().length - 1000, 1000);
        ObjectTail.Result result = ObjectTail.decode(last, object.bytes().length);
        assertThat(result).isInstanceOf(ObjectTail.Result.More.class);
        int needed = ((ObjectTail.Result.More) result).bytes();
        ObjectTail.Result again =
                ObjectTail.decode(object.range(object.bytes().length - needed, needed), object.bytes().length);
        assertThat(again).isInstanceOf(ObjectTail.Result.Found.class);
    }

    /** S20: only a sealed segment, with all that it was sealed with, becomes an object. */
    @Test
    void aSegmentThatIsCutShortOrDamagedIsNeverWritten() {
        TestSegments.Segment whole = TestSegments.segment(1, 0, 10, 200, false);
        TestSegments.Segment cut =
                new TestSegments.Segment(whole.descriptor(), whole.entries().subList(0, 9), whole.checkpoint());
        assertThatThrownBy(() -> BuiltObject.of(List.of(cut), 4096, BlockCompression.NONE))
                .isInstanceOf(ObjectFormatException.class)
                .hasMessageContaining("ends at");

        ByteBuffer damaged = whole.entries().get(3);
        damaged.put(60, (byte) (damaged.get(60) ^ 1));
        assertThatThrownBy(() -> BuiltObject.of(List.of(whole), 4096, BlockCompression.NONE))
                .isInstanceOf(ObjectFormatException.class)
                .hasMessageContaining("not intact");
    }

    @Test
    void aLaterMinorVersionIsReadAndALaterMajorRefused() throws Exception {
        BuiltObject object = BuiltObject.of(TestSegments.chain(1, 10, 200, true), 4096, BlockCompression.NONE);
        assertThat(object.withVersion(1, 9).tail().minor()).isEqualTo(9);
        assertThatThrownBy(() -> object.withVersion(2, 0).tail())
                .isInstanceOf(ObjectFormatException.class)
                .satisfies(e -> assertThat(((ObjectFormatException) e).kind())
                        .isEqualTo(ObjectFormatException.Kind.UNSUPPORTED_VERSION))
                .hasMessageContaining("2.0");
    }
}
