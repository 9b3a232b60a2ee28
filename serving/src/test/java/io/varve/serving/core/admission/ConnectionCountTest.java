package io.varve.serving.core.admission;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class ConnectionCountTest {

    @Test
    void connectionsOverEitherLimitAreCountedButNotWithinIt() {
        ConnectionCount count = new ConnectionCount(3, 2);
        assertThat(count.onOpen("a")).isTrue();
        assertThat(count.onOpen("a")).isTrue();
        assertThat(count.onOpen("a")).isFalse();
        assertThat(count.onOpen("b")).isFalse();
        assertThat(count.total()).isEqualTo(4);
        count.onClose("a");
        count.onClose("a");
        assertThat(count.onOpen("b")).isTrue();
    }

    @Test
    void anAddressWhoseConnectionsAreGoneCountsFromZero() {
        ConnectionCount count = new ConnectionCount(10, 1);
        for (int i = 0; i < 100; i++) {
            assertThat(count.onOpen("a")).isTrue();
            count.onClose("a");
        }
        assertThat(count.total()).isZero();
    }
}
