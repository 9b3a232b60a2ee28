package io.varve.tiering.object;

import java.net.URI;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3AsyncClient;

/** Stores for tests that speak S3: buckets made in them, and prefixes of their own for each test. */
final class S3Endpoints {

    static final String BUCKET = "varve-test";

    private static final AtomicInteger PREFIXES = new AtomicInteger();

    private S3Endpoints() {}

    /** Makes {@link #BUCKET}; a test process does so once for a store. */
    static void makeBucket(URI endpoint, String accessKey, String secretKey) throws Exception {
        try (S3AsyncClient s3 = S3AsyncClient.builder()
                .endpointOverride(endpoint)
                .region(Region.US_EAST_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create(accessKey, secretKey)))
                .forcePathStyle(true)
                .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
                .build()) {
            ObjectStoreContract.get(s3.createBucket(r -> r.bucket(BUCKET)));
        }
    }

    /** An empty prefix of a bucket. */
    static ObjectStore open(
            URI endpoint, String bucket, S3Settings.Profile profile, String accessKey, String secretKey) {
        S3Settings settings = new S3Settings(
                bucket,
                "us-east-1",
                Optional.of(endpoint),
                profile.dialect(),
                new S3Settings.Encryption.BucketDefault(),
                Optional.empty(),
                new S3Settings.Credentials.Fixed(accessKey, secretKey),
                16,
                5000);
        String prefix = "contract/" + Long.toHexString(System.nanoTime()) + "-" + PREFIXES.incrementAndGet();
        return new PrefixedObjectStore(new S3ObjectStore(settings), prefix);
    }

    /** One line that {@code .ci/run} repeats, so that nobody takes a store for tested that was not there. */
    static void tell(String line) {
        System.out.println(line);
    }
}
