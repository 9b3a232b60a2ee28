package io.varve.tiering.object;

import java.net.URI;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/**
 * Where a bucket is and how its store wants to be spoken to.
 *
 * @param bucket its name
 * @param region as the store wants it in signatures
 * @param endpoint of a store that isn't AWS
 * @param dialect what the store takes
 * @param encryption at rest, asked for with each write
 * @param storageClass for new objects; empty for the bucket's own
 * @param credentials where keys come from
 * @param connectionsMax to the store at a time
 * @param connectMs to make one
 */
public record S3Settings(
        String bucket,
        String region,
        Optional<URI> endpoint,
        Dialect dialect,
        Encryption encryption,
        Optional<String> storageClass,
        Credentials credentials,
        int connectionsMax,
        int connectMs) {

    public S3Settings {
        Objects.requireNonNull(bucket, "bucket");
        Objects.requireNonNull(dialect, "dialect");
        Objects.requireNonNull(encryption, "encryption");
        Objects.requireNonNull(credentials, "credentials");
    }

    /** Stores whose habits are known. */
    public enum Profile {
        /** Amazon S3: host style, checksums with every write. */
        AWS(new Dialect(false, true, BulkDelete.CHECKSUM, true, true)),
        /** MinIO of the last years takes what AWS takes, by path. */
        MINIO(new Dialect(true, true, BulkDelete.CHECKSUM, true, false)),
        /** LocalStack, by path. */
        LOCALSTACK(new Dialect(true, true, BulkDelete.CHECKSUM, true, false)),
        /** Anything else: only what S3 had ten years ago. Ceph, Swift, GCS, ECS and older MinIO refuse the newer checksums. */
        GENERIC(new Dialect(true, false, BulkDelete.ONE_BY_ONE, false, false));

        private final Dialect dialect;

        Profile(Dialect dialect) {
            this.dialect = dialect;
        }

        /** What such a store takes. */
        public Dialect dialect() {
            return dialect;
        }
    }

    /**
     * What a store takes.
     *
     * @param pathStyle the bucket is in the path, not in the host's name
     * @param checksums writes carry a checksum of the SDK's choice
     * @param bulkDelete how many objects are deleted
     * @param chunkedEncoding bodies may be framed as {@code aws-chunked}; a store that doesn't know it keeps the framing as content
     * @param expectContinue large bodies are sent only after the store said that it wants them; some never do
     */
    public record Dialect(
            boolean pathStyle,
            boolean checksums,
            BulkDelete bulkDelete,
            boolean chunkedEncoding,
            boolean expectContinue) {}

    /** Ways to delete many objects. */
    public enum BulkDelete {
        /** One request with a checksum of the SDK's choice. */
        CHECKSUM,
        /** One request with a Content-MD5 beside the SDK's checksum, which can't be left out of it. */
        CONTENT_MD5,
        /** A request for each: what every store takes. */
        ONE_BY_ONE
    }

    /** Encryption at rest. */
    public sealed interface Encryption {
        /** Whatever the bucket does. */
        record BucketDefault() implements Encryption {}

        /** With keys of the store (SSE-S3). */
        record StoreKeys() implements Encryption {}

        /** With a key of the key service (SSE-KMS); empty for the account's own. */
        record Kms(Optional<String> keyId) implements Encryption {}
    }

    /** Where keys come from. Each is asked anew at every signing, so that keys may be rotated under a running process. */
    public sealed interface Credentials {
        /** The SDK's chain: environment, system properties, web identity, profile files, container, instance. */
        record Chain() implements Credentials {}

        /** A profile in a credentials file, read again whenever it changes. */
        record ProfileFile(Path file, String profile) implements Credentials {}

        /** Fixed keys. */
        record Fixed(String accessKey, String secretKey) implements Credentials {
            @Override
            public String toString() {
                return "Fixed[" + accessKey + "]";
            }
        }
    }
}
