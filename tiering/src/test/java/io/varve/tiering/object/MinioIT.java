package io.varve.tiering.object;

import java.net.URI;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.testcontainers.containers.MinIOContainer;

/** The contract against MinIO, where Docker runs. */
class MinioIT extends ObjectStoreContract {

    private static MinIOContainer minio;

    @BeforeAll
    static void start() throws Exception {
        DockerStore.assumeDocker("MinioIT");
        minio = new MinIOContainer("minio/minio:RELEASE.2025-04-22T22-12-26Z");
        minio.start();
        S3Endpoints.makeBucket(URI.create(minio.getS3URL()), minio.getUserName(), minio.getPassword());
        S3Endpoints.tell("TESTED store: MinIO");
    }

    @AfterAll
    static void stop() {
        if (minio != null) {
            minio.stop();
        }
    }

    @Override
    ObjectStore open() {
        return S3Endpoints.open(
                URI.create(minio.getS3URL()),
                S3Endpoints.BUCKET,
                S3Settings.Profile.MINIO,
                minio.getUserName(),
                minio.getPassword());
    }
}
