package io.varve.tiering.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.metadata.model.ObjectKeys;
import io.varve.tiering.testing.TestSegments;
import org.junit.jupiter.api.Test;

class SegmentKeyTest {

    @Test
    void aKeyIsReadAsItWasWritten() {
        for (long offset : new long[] {0, 1, 123_456_789, Long.MAX_VALUE}) {
            for (long attempt : new long[] {1, 0xdeadbeefL, Long.MAX_VALUE}) {
                String key = ObjectKeys.segment("c-1", TestSegments.PARTITION, offset, attempt);
                assertThat(SegmentKey.parse("c-1", key))
                        .hasValue(new SegmentKey(TestSegments.PARTITION, offset, attempt));
            }
        }
    }

    @Test
    void whatIsNotOursIsNotRead() {
        String key = ObjectKeys.segment("c-1", TestSegments.PARTITION, 0, 1);
        for (String other : new String[] {
            "",
            "c-1",
            "c-1/",
            key + "x",
            key.replace(".seg", ".sog"),
            key.replace("/7/", "/07/"),
            key.toUpperCase(),
            key.replace("/7/", "/7777777777/"),
            "x" + key,
            key.replace("00000000000000000000-", "99999999999999999999-")
        }) {
            assertThat(SegmentKey.parse("c-1", other)).as(other).isEmpty();
        }
        assertThat(SegmentKey.parse("c-2", key)).isEmpty();
    }

    @Test
    void manifestsKeysAreReadAndAreNoSegments() {
        String root = ObjectKeys.manifestRoot("c-1", TestSegments.PARTITION, -1);
        String leaf = ObjectKeys.manifestLeaf("c-1", TestSegments.PARTITION, 77, 3);
        assertThat(ManifestKey.parse("c-1", root)).hasValue(new ManifestKey(TestSegments.PARTITION, -1));
        assertThat(ManifestKey.parse("c-1", leaf)).hasValue(new ManifestKey(TestSegments.PARTITION, 77));
        String segment = ObjectKeys.segment("c-1", TestSegments.PARTITION, 0, 1);
        for (String other : new String[] {segment, root + "x", leaf.replace("-0003", ""), "x" + root}) {
            assertThat(ManifestKey.parse("c-1", other)).as(other).isEmpty();
        }
        assertThat(SegmentKey.parse("c-1", root)).isEmpty();
        assertThat(ManifestKey.parse("c-2", root)).isEmpty();
    }
}
