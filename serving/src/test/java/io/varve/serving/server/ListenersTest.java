package io.varve.serving.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.StartupException;
import io.varve.metadata.model.BrokerInfo.Endpoint;
import io.varve.protocol.config.ConfigKey;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** P45 of the user reports: what is given out can be connected to, and each listener gives out its own. */
final class ListenersTest {

    @ParameterizedTest
    @ValueSource(strings = {"PLAINTEXT://0.0.0.0:9092", "PLAINTEXT://:9092", "PLAINTEXT://[::]:9092"})
    void listeningEverywhereNeedsAnAddressToGiveOut(String listener) {
        assertThatThrownBy(() -> listeners(List.of(listener), List.of()))
                .isInstanceOf(StartupException.class)
                .hasMessageContaining("advertised.listeners");
        assertThat(listeners(List.of(listener), List.of("PLAINTEXT://broker-1:19092"))
                        .endpoints(name -> 9092))
                .containsExactly(new Endpoint("PLAINTEXT", "PLAINTEXT", "broker-1", 19092));
    }

    @Test
    void aWildcardIsNotGivenOut() {
        assertThatThrownBy(() -> listeners(List.of("PLAINTEXT://localhost:9092"), List.of("PLAINTEXT://0.0.0.0:9092")))
                .isInstanceOf(StartupException.class)
                .hasMessageContaining("0.0.0.0");
    }

    @Test
    void eachListenerGivesOutItsOwnAddress() {
        Listeners two = listeners(
                List.of("INSIDE://10.0.0.1:9092", "OUTSIDE://0.0.0.0:9093"), List.of("OUTSIDE://example.org:443"));
        assertThat(two.endpoints(name -> 0))
                .containsExactly(
                        new Endpoint("INSIDE", "PLAINTEXT", "10.0.0.1", 9092),
                        new Endpoint("OUTSIDE", "PLAINTEXT", "example.org", 443));
    }

    @Test
    void aPortOfZeroIsGivenOutAsWhatItBecame() {
        assertThat(listeners(List.of("PLAINTEXT://localhost:0"), List.of()).endpoints(name -> 4711))
                .containsExactly(new Endpoint("PLAINTEXT", "PLAINTEXT", "localhost", 4711));
    }

    @Test
    void whatIsNoListenerOrCantBeServedIsRefused() {
        assertThatThrownBy(() -> Listeners.parse(List.of("localhost:9092"))).isInstanceOf(ConfigKey.WrongValue.class);
        assertThatThrownBy(() -> Listeners.parse(List.of("A://x:1", "A://y:2")))
                .isInstanceOf(ConfigKey.WrongValue.class);
        assertThatThrownBy(() -> Listeners.parse(List.of("SSL://x:1"))).isInstanceOf(ConfigKey.WrongValue.class);
        assertThatThrownBy(() -> listeners(List.of("A://x:1"), List.of("B://y:2")))
                .isInstanceOf(StartupException.class);
    }

    private static Listeners listeners(List<String> listeners, List<String> advertised) {
        return Listeners.of(Listeners.parse(listeners), advertised.isEmpty() ? List.of() : Listeners.parse(advertised));
    }
}
