package io.varve.tiering.object;

import java.net.URI;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;

/**
 * The contract against whatever store the environment names: {@code VARVE_TEST_S3_ENDPOINT}, {@code …_BUCKET} (which must exist),
 * {@code …_ACCESS_KEY}, {@code …_SECRET_KEY}, and, if they aren't the usual, {@code …_PROFILE} and {@code …_REGION}.
 */
class S3EndpointIT extends ObjectStoreContract {

    private static final Map<String, String> ENVIRONMENT = System.getenv();

    @BeforeAll
    static void skipWithoutEndpoint() {
        Assumptions.assumeTrue(
                ENVIRONMENT.containsKey("VARVE_TEST_S3_ENDPOINT"),
                "no store was named: VARVE_TEST_S3_ENDPOINT is not set");
    }

    @Override
    ObjectStore open() {
        String profile = ENVIRONMENT.getOrDefault("VARVE_TEST_S3_PROFILE", "generic");
        S3Settings settings = new S3Settings(
                ENVIRONMENT.getOrDefault("VARVE_TEST_S3_BUCKET", "varve-test"),
                ENVIRONMENT.getOrDefault("VARVE_TEST_S3_REGION", "us-east-1"),
                Optional.of(URI.create(ENVIRONMENT.get("VARVE_TEST_S3_ENDPOINT"))),
                S3Settings.Profile.valueOf(profile.toUpperCase(Locale.ROOT)).dialect(),
                new S3Settings.Encryption.BucketDefault(),
                Optional.empty(),
                new S3Settings.Credentials.Fixed(
                        ENVIRONMENT.getOrDefault("VARVE_TEST_S3_ACCESS_KEY", "accessKey1"),
                        ENVIRONMENT.getOrDefault("VARVE_TEST_S3_SECRET_KEY", "verySecretKey1")),
                16,
                5000);
        return new PrefixedObjectStore(
                new S3ObjectStore(settings), "varve-contract/" + Long.toHexString(System.nanoTime()));
    }
}
