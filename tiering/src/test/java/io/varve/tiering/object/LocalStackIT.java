package io.varve.tiering.object;

import java.net.URI;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.testcontainers.localstack.LocalStackContainer;

/** The contract against LocalStack, where Docker runs. */
class LocalStackIT extends ObjectStoreContract {

    private static LocalStackContainer localStack;

    @BeforeAll
    static void start() throws Exception {
        DockerStore.assumeDocker("LocalStackIT");
        localStack = new LocalStackContainer("localstack/localstack:4.4.0").withServices("s3");
        localStack.start();
        S3Endpoints.makeBucket(endpoint(), localStack.getAccessKey(), localStack.getSecretKey());
        S3Endpoints.tell("TESTED store: LocalStack");
    }

    @AfterAll
    static void stop() {
        if (localStack != null) {
            localStack.stop();
        }
    }

    @Override
    ObjectStore open() {
        return S3Endpoints.open(
                endpoint(),
                S3Endpoints.BUCKET,
                S3Settings.Profile.LOCALSTACK,
                localStack.getAccessKey(),
                localStack.getSecretKey());
    }

    private static URI endpoint() {
        return localStack.getEndpoint();
    }
}
