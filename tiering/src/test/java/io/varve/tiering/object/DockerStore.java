package io.varve.tiering.object;

import org.junit.jupiter.api.Assumptions;
import org.testcontainers.DockerClientFactory;

/** Whether stores can be run in containers here. */
final class DockerStore {

    private DockerStore() {}

    /** Skips the test class, and says so, where there is no Docker. */
    static void assumeDocker(String test) {
        boolean available = DockerClientFactory.instance().isDockerAvailable();
        if (!available) {
            S3Endpoints.tell("SKIPPED " + test + ": Docker doesn't run here");
        }
        Assumptions.assumeTrue(available, "Docker doesn't run here");
    }
}
