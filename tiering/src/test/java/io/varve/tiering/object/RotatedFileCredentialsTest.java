package io.varve.tiering.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** S18: keys that somebody writes into a file under us; and whatever is wrong with the file, it is told that it is the file. */
class RotatedFileCredentialsTest {

    @TempDir
    private Path directory;

    private Path file;
    private RotatedFileCredentials credentials;

    @BeforeEach
    void watchAFile() {
        file = directory.resolve("keys");
        credentials = new RotatedFileCredentials(file, "default");
    }

    @Test
    void theKeysAreThoseThatStandThereNow() throws IOException {
        write("[default]\naws_access_key_id=a\naws_secret_access_key=b\n");
        assertThat(credentials.resolveCredentials().accessKeyId()).isEqualTo("a");
        write("[default]\naws_access_key_id=longer\naws_secret_access_key=b\n");
        assertThat(credentials.resolveCredentials().accessKeyId()).isEqualTo("longer");
    }

    @Test
    void aFileThatIsNotThereComesWhenItComes() throws IOException {
        assertTold("isn't there");
        write("[default]\naws_access_key_id=a\naws_secret_access_key=b\n");
        assertThat(credentials.resolveCredentials().accessKeyId()).isEqualTo("a");
    }

    @Test
    void aFileInAnotherFormIsNoTroubleOfTheStore() throws IOException {
        write("a\nb\n");
        assertTold("doesn't parse: ");
    }

    @Test
    void aFileWithoutTheProfileOrOneOfItsKeysSaysWhatIsMissing() throws IOException {
        write("[other]\naws_access_key_id=a\naws_secret_access_key=b\n");
        assertTold("has no profile 'default' with aws_access_key_id and aws_secret_access_key");
        write("[default]\naws_access_key_id=a\n");
        assertTold("has no profile 'default' with aws_access_key_id and aws_secret_access_key");
        write("");
        assertTold("has no profile 'default' with aws_access_key_id and aws_secret_access_key");
    }

    private void write(String text) throws IOException {
        Files.writeString(file, text);
    }

    /** Credentials that can't be had are what an operator looks after, and not a store that is away. */
    private void assertTold(String why) {
        assertThatThrownBy(credentials::resolveCredentials).satisfies(failure -> {
            StoreException told = S3Failures.translate("PUT", "k", failure);
            assertThat(told.kind()).isEqualTo(StoreException.Kind.FORBIDDEN);
            assertThat(told).hasMessageStartingWith("PUT k: no credentials: " + file + " " + why);
        });
    }
}
