package io.varve.tiering.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectKeys;
import io.varve.metadata.model.ObjectRef;
import io.varve.tiering.testing.TestSegments;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ManifestCoverTest {

    private static final int OBJECTS = 10;
    private static final long OFFSETS_EACH = 100;
    private static final long BYTES = 7;

    private final ManifestRef manifest = new ManifestRef(
            "root",
            1,
            0,
            OBJECTS * OFFSETS_EACH,
            OBJECTS,
            OBJECTS * BYTES,
            -1,
            100,
            1,
            List.of(new ManifestRef.Mark(OBJECTS * OFFSETS_EACH, OBJECTS * BYTES, -1)));

    private static String key(long number) {
        return ObjectKeys.segment(TestSegments.CLUSTER, TestSegments.PARTITION, number * OFFSETS_EACH, 50 + number);
    }

    private static ObjectRef object(long number) {
        return new ObjectRef(
                key(number), 50 + number, BYTES, 1, number * OFFSETS_EACH, (number + 1) * OFFSETS_EACH, -1);
    }

    private long from(Set<Long> absent, Set<Long> damaged) {
        ManifestCover cover = new ManifestCover(
                manifest,
                LongStream.range(0, OBJECTS).mapToObj(ManifestCoverTest::object).iterator());
        for (long number = 0; number < OBJECTS; number++) {
            if (!absent.contains(number)) {
                // What another attempt left behind lies between those that count.
                boolean isOther = cover.onListed(
                        ObjectKeys.segment(TestSegments.CLUSTER, TestSegments.PARTITION, number * OFFSETS_EACH, number),
                        BYTES);
                assertThat(isOther).as("named by the manifest").isFalse();
                assertThat(cover.onListed(key(number), damaged.contains(number) ? BYTES - 1 : BYTES))
                        .isTrue();
            }
        }
        cover.onEnd();
        assertThat(cover.objects()).isEqualTo(OBJECTS - absent.size());
        return cover.fromOffset();
    }

    @Test
    void whatIsThereWithoutAGapUpToTheEndCounts() {
        assertThat(from(Set.of(), Set.of())).isZero();
        assertThat(from(Set.of(0L, 1L), Set.of())).isEqualTo(2 * OFFSETS_EACH);
        assertThat(from(Set.of(4L), Set.of())).isEqualTo(5 * OFFSETS_EACH);
        assertThat(from(Set.of(), Set.of(6L))).isEqualTo(7 * OFFSETS_EACH);
        assertThat(from(Set.of(OBJECTS - 1L), Set.of())).isEqualTo(OBJECTS * OFFSETS_EACH);
    }

    @Test
    void whatBeginsBehindItIsNotIts() {
        ManifestCover cover = new ManifestCover(manifest, List.<ObjectRef>of().iterator());
        assertThat(cover.covers(OBJECTS * OFFSETS_EACH - 1)).isTrue();
        assertThat(cover.covers(OBJECTS * OFFSETS_EACH)).isFalse();
    }
}
