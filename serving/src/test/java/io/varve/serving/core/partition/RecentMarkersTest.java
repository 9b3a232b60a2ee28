package io.varve.serving.core.partition;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class RecentMarkersTest {

    private final RecentMarkers markers = new RecentMarkers();

    @Test
    void whoseTransactionEndedSinceIsKnown() {
        markers.onMarker(1, 10);
        assertThat(markers.mayHaveEndedSince(1, 10)).isTrue();
        assertThat(markers.mayHaveEndedSince(1, 11)).isFalse();
        assertThat(markers.mayHaveEndedSince(2, 0)).isFalse();
    }

    @Test
    void ofWhatWasForgottenTheWorstIsAssumed() {
        for (int id = 0; id < 20_000; id++) {
            markers.onMarker(id, id);
        }
        assertThat(markers.mayHaveEndedSince(1, 1)).isTrue();
        assertThat(markers.mayHaveEndedSince(99_999, 5)).isTrue();
        assertThat(markers.mayHaveEndedSince(99_999, 15_000)).isFalse();
        assertThat(markers.mayHaveEndedSince(19_999, 19_999)).isTrue();
        assertThat(markers.mayHaveEndedSince(19_998, 19_999)).isFalse();
    }
}
