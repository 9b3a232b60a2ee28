package io.varve.cli.role;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The commented files in {@code deploy/conf} say what the roles really take. */
class ConfSamplesTest {

    @ParameterizedTest
    @EnumSource
    void theSampleIsWhatConfigSamplePrints(Role role) throws IOException {
        Path file = Path.of("conf", role + ".properties");
        assertThat(Files.readString(file))
                .as("%s differs: ./varve config sample %s > deploy/%s", file, role, file)
                .isEqualTo(role.schema().sample());
    }
}
