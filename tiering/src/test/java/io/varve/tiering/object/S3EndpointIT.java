package io.varve.tiering.object;

import java.net.URI;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;

/**
 * The contract against whatever store the environment names: {@code VARVE_TEST_S3_ENDPOINT}, {@code …_BUCKET} (which must exist),
 * {@code …_ACCESS_KEY}, {@code …_SECRET_KEY}, and, if it isn't the generic one, {@code …_PROFILE}.
 */
class S3EndpointIT extends ObjectStoreContract {

    private static final Map<String, String> ENVIRONMENT = System.getenv();

    @BeforeAll
    static void skipWithoutEndpoint() {
        boolean isNamed = ENVIRONMENT.containsKey("VARVE_TEST_S3_ENDPOINT");
        S3Endpoints.tell(
                isNamed
                        ? "TESTED store: " + ENVIRONMENT.get("VARVE_TEST_S3_ENDPOINT")
                        : "SKIPPED S3EndpointIT: VARVE_TEST_S3_ENDPOINT names no store");
        Assumptions.assumeTrue(isNamed, "no store was named: VARVE_TEST_S3_ENDPOINT is not set");
    }

    @Override
    ObjectStore open() {
        String profile = ENVIRONMENT.getOrDefault("VARVE_TEST_S3_PROFILE", "generic");
        return S3Endpoints.open(
                URI.create(ENVIRONMENT.get("VARVE_TEST_S3_ENDPOINT")),
                ENVIRONMENT.getOrDefault("VARVE_TEST_S3_BUCKET", S3Endpoints.BUCKET),
                S3Settings.Profile.valueOf(profile.toUpperCase(Locale.ROOT)),
                ENVIRONMENT.getOrDefault("VARVE_TEST_S3_ACCESS_KEY", "accessKey1"),
                ENVIRONMENT.getOrDefault("VARVE_TEST_S3_SECRET_KEY", "verySecretKey1"));
    }
}
