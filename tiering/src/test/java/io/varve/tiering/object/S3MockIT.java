package io.varve.tiering.object;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.tiering.testing.S3MockProcess;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract over S3's protocol, against Adobe's S3Mock, once as AWS is spoken to and once as generic stores are. */
class S3MockIT extends ObjectStoreContract {

    private static final AtomicInteger PREFIXES = new AtomicInteger();

    @TempDir
    static Path directory;

    private static S3MockProcess server;

    @BeforeAll
    static void start() throws Exception {
        Assumptions.assumeTrue(S3MockProcess.jar().isPresent(), "S3Mock was not fetched: run Maven's verify");
        server = S3MockProcess.start(S3MockProcess.jar().get(), directory.resolve("s3mock"));
        S3Endpoints.tell("TESTED store: Adobe S3Mock");
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
    }

    @Override
    ObjectStore open() {
        int number = PREFIXES.incrementAndGet();
        // The newer dialect on every other test: all of them run in both over time, and each in one now.
        S3Settings.Profile profile = number % 2 == 0 ? S3Settings.Profile.LOCALSTACK : S3Settings.Profile.GENERIC;
        return S3Endpoints.open(server.endpoint(), S3MockProcess.BUCKET, profile, "accessKey1", "verySecretKey1");
    }

    @Test
    void aBucketThatIsNotThereIsToldApartFromAnObjectThatIsNot() throws Exception {
        try (ObjectStore store = new S3ObjectStore(settings("no-such-bucket", S3Settings.Profile.GENERIC))) {
            assertFails(store.put("k", ByteBuffer.allocate(10)), StoreException.Kind.NO_BUCKET);
            assertFails(store.list("", Optional.empty(), 10), StoreException.Kind.NO_BUCKET);
            BucketProbe.Verdict verdict = get(new BucketProbe(store, "", "1").run());
            assertThat(verdict.isSound()).isFalse();
            assertThat(verdict.kind()).isEqualTo(StoreException.Kind.NO_BUCKET);
            assertThat(verdict.line()).contains("PUT fails").contains("create the bucket");
        }
    }

    @Test
    void aStoreThatDoesNotAnswerIsUnreachable() throws Exception {
        S3Settings nobody = new S3Settings(
                "b",
                "us-east-1",
                Optional.of(java.net.URI.create("http://127.0.0.1:1")),
                S3Settings.Profile.GENERIC.dialect(),
                new S3Settings.Encryption.BucketDefault(),
                Optional.empty(),
                new S3Settings.Credentials.Fixed("a", "b"),
                4,
                1000);
        try (ObjectStore store = new S3ObjectStore(nobody)) {
            assertFails(store.head("k"), StoreException.Kind.UNREACHABLE);
        }
    }

    private static S3Settings settings(String bucket, S3Settings.Profile profile) {
        return new S3Settings(
                bucket,
                "us-east-1",
                Optional.of(server.endpoint()),
                profile.dialect(),
                new S3Settings.Encryption.BucketDefault(),
                Optional.empty(),
                new S3Settings.Credentials.Fixed("accessKey1", "verySecretKey1"),
                16,
                5000);
    }
}
