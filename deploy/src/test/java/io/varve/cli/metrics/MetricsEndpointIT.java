package io.varve.cli.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.StartupException;
import io.varve.protocol.config.HostPort;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class MetricsEndpointIT {

    @Test
    void metersAreReadInPrometheusForm() throws Exception {
        try (MetricsEndpoint endpoint = MetricsEndpoint.start(Optional.of(new HostPort("127.0.0.1", 0)))) {
            endpoint.registry().counter("varve_test_things", "kind", "good").increment(3);
            HttpResponse<String> answer = HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + endpoint.port() + "/metrics"))
                                    .timeout(Duration.ofSeconds(10))
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).contains("varve_test_things_total{kind=\"good\"} 3.0", "jvm_memory_used_bytes");
        }
    }

    @Test
    void aPortThatIsTakenIsNamed() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            HostPort same = new HostPort("127.0.0.1", taken.getLocalPort());
            assertThatThrownBy(() -> MetricsEndpoint.start(Optional.of(same)))
                    .isInstanceOf(StartupException.class)
                    .hasMessageContaining(same.toString());
        }
    }
}
