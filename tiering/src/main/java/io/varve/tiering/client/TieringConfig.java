package io.varve.tiering.client;

import io.micrometer.core.instrument.MeterRegistry;
import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.base.StartupException;
import io.varve.protocol.config.Config;
import io.varve.protocol.config.ConfigKey;
import io.varve.protocol.config.ConfigSchema;
import io.varve.tiering.api.Offloader;
import io.varve.tiering.api.RemoteSegments;
import io.varve.tiering.object.LocalObjectStore;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.object.S3Settings;
import io.varve.tiering.offload.OffloadWorker;
import io.varve.tiering.offload.UploadSettings;
import io.varve.tiering.read.Alarms;
import io.varve.tiering.read.ReadSettings;
import io.varve.tiering.read.RemoteSegmentReader;
import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Predicate;

/** The keys of tiering, the same on bookies and brokers. */
public final class TieringConfig {

    private static final int MIB = 1024 * 1024;

    /** Kinds of store. */
    public enum Store {
        LOCAL,
        S3
    }

    /** When the SDK adds checksums to requests. */
    public enum Checksums {
        WHEN_REQUIRED,
        WHEN_SUPPORTED
    }

    /** Encryption at rest. */
    public enum Encryption {
        BUCKET,
        S3,
        KMS
    }

    public static final ConfigKey<Store> STORE = ConfigKey.choice(
                    "tiering.store", "Where sealed segments go: a directory, or a bucket of S3 or alike.", Store.class)
            .withDefault("local");
    public static final ConfigKey<Path> LOCAL_DIR = ConfigKey.path(
                    "tiering.local.dir", "The directory of a local store. All nodes must see the same one.")
            .withDefault("data/bucket");
    public static final ConfigKey<String> PREFIX = ConfigKey.text(
                    "tiering.prefix", "What all keys of this cluster begin with. One cluster for each prefix.")
            .withDefault("varve");
    public static final ConfigKey<String> BUCKET = ConfigKey.text(
                    "tiering.s3.bucket", "The bucket's name. It must exist.")
            .optional();
    public static final ConfigKey<String> REGION = ConfigKey.text(
                    "tiering.s3.region", "The region, as the store wants it in signatures.")
            .withDefault("us-east-1");
    public static final ConfigKey<String> ENDPOINT = ConfigKey.text(
                    "tiering.s3.endpoint", "The URL of a store that isn't AWS.")
            .optional();
    public static final ConfigKey<S3Settings.Profile> PROFILE = ConfigKey.choice(
                    "tiering.s3.profile",
                    "What the store takes. generic asks for no more than S3 had ten years ago.",
                    S3Settings.Profile.class)
            .withDefault("aws");
    public static final ConfigKey<Boolean> PATH_STYLE = ConfigKey.bool(
                    "tiering.s3.path.style",
                    "The bucket in the path instead of the host's name. The profile's choice if left out.")
            .optional();
    public static final ConfigKey<Checksums> CHECKSUMS = ConfigKey.choice(
                    "tiering.s3.checksums",
                    "When requests carry the SDK's checksums. The profile's choice if left out.",
                    Checksums.class)
            .optional();
    public static final ConfigKey<S3Settings.BulkDelete> BULK_DELETE = ConfigKey.choice(
                    "tiering.s3.bulk.delete",
                    "How many objects are deleted. The profile's choice if left out.",
                    S3Settings.BulkDelete.class)
            .optional();
    public static final ConfigKey<Boolean> CHUNKED = ConfigKey.bool(
                    "tiering.s3.chunked.encoding",
                    "Whether bodies may be framed as aws-chunked. The profile's choice if left out.")
            .optional();
    public static final ConfigKey<Boolean> EXPECT_CONTINUE = ConfigKey.bool(
                    "tiering.s3.expect.continue",
                    "Whether large bodies are sent only after the store has answered that it wants them. The profile's choice if left out.")
            .optional();
    public static final ConfigKey<Encryption> ENCRYPTION = ConfigKey.choice(
                    "tiering.s3.encryption",
                    "Encryption at rest: as the bucket has it, SSE-S3 or SSE-KMS.",
                    Encryption.class)
            .withDefault("bucket");
    public static final ConfigKey<String> KMS_KEY = ConfigKey.text(
                    "tiering.s3.kms.key.id", "The key of SSE-KMS; the account's own if left out.")
            .optional();
    public static final ConfigKey<String> STORAGE_CLASS = ConfigKey.text(
                    "tiering.s3.storage.class", "The storage class of new objects; the bucket's own if left out.")
            .optional();
    public static final ConfigKey<Path> CREDENTIALS_FILE = ConfigKey.path(
                    "tiering.s3.credentials.file",
                    "A credentials file, read again when it changes. The SDK's chain of providers if left out.")
            .optional();
    public static final ConfigKey<String> CREDENTIALS_PROFILE = ConfigKey.text(
                    "tiering.s3.credentials.profile", "The profile in the credentials file.")
            .withDefault("default");
    public static final ConfigKey<String> ACCESS_KEY = ConfigKey.text(
                    "tiering.s3.access.key", "A fixed access key, for tests and small stores.")
            .optional();
    public static final ConfigKey<String> SECRET_KEY = ConfigKey.text(
                    "tiering.s3.secret.key", "The fixed access key's secret.")
            .optional();
    public static final ConfigKey<Integer> CONNECTIONS = ConfigKey.integer(
                    "tiering.s3.connections.max",
                    "Connections to the store at a time for what is read, and as many for everything else.",
                    1,
                    10_000)
            .withDefault("64");
    public static final ConfigKey<Boolean> CHECK_AT_START = ConfigKey.bool(
                    "tiering.check.at.start",
                    "Whether a bookie tries the store when it starts and stays away if it can't be used, and a broker if it isn't the cluster's.")
            .withDefault("true");
    public static final ConfigKey<Long> CALL_MS = ConfigKey.number(
                    "tiering.call.deadline.ms", "Our own deadline around every call to the store.", 100, 3_600_000)
            .withDefault("15000");
    public static final ConfigKey<Long> RATE_MIN = ConfigKey.number(
                    "tiering.call.bytes.per.second.min",
                    "A call that moves bytes gets as much longer as this rate takes for them.",
                    1024,
                    Long.MAX_VALUE)
            .withDefault("1048576");
    public static final ConfigKey<Long> RETRY_MS = ConfigKey.number(
                    "tiering.retry.ms", "How long a call that meets passing trouble is begun again.", 0, 3_600_000)
            .withDefault("30000");
    public static final ConfigKey<Integer> UPLOADS = ConfigKey.integer(
                    "tiering.upload.concurrency", "Objects that a bookie uploads at a time.", 1, 256)
            .withDefault("2");
    public static final ConfigKey<Integer> PART_BYTES = ConfigKey.integer(
                    "tiering.upload.part.bytes",
                    "The size of a multipart upload's parts. An object no larger is written by a single PUT.",
                    5 * MIB,
                    512 * MIB)
            .withDefault(Integer.toString(16 * MIB));
    public static final ConfigKey<Integer> PARTS_IN_FLIGHT = ConfigKey.integer(
                    "tiering.upload.parts.in.flight", "Parts of one upload that are sent at a time.", 1, 64)
            .withDefault("2");
    public static final ConfigKey<Long> UPLOAD_RATE = ConfigKey.number(
                    "tiering.upload.bytes.per.second",
                    "All uploads of a bookie together; 0 for no limit, else at least 262144.",
                    0,
                    Long.MAX_VALUE)
            .withDefault("0");
    public static final ConfigKey<Integer> BLOCK_BYTES = ConfigKey.integer(
                    "tiering.block.bytes",
                    "What an object is read in. Larger blocks compress better, smaller ones answer sooner.",
                    4096,
                    32 * MIB)
            .withDefault(Integer.toString(MIB));
    public static final ConfigKey<Boolean> COMPRESS = ConfigKey.bool(
                    "tiering.compress", "Whether blocks are stored as LZ4 frames where that saves an eighth.")
            .withDefault("true");
    public static final ConfigKey<Long> CACHE_BYTES = ConfigKey.number(
                    "tiering.cache.bytes",
                    "Memory of a broker, outside of its heap, for what it reads from the store: kept, fetched ahead, and on its way.",
                    4L * MIB,
                    Long.MAX_VALUE)
            .withDefault(Long.toString(256L * MIB));
    public static final ConfigKey<Long> MANIFEST_CACHE_BYTES = ConfigKey.number(
                    "tiering.manifest.cache.bytes",
                    "Memory of a broker for manifests: they say where the old ends of chains lie.",
                    MIB,
                    Long.MAX_VALUE)
            .withDefault(Long.toString(32L * MIB));
    public static final ConfigKey<Integer> READ_BYTES = ConfigKey.integer(
                    "tiering.read.bytes.max", "No single read from the store answers with more.", 64 * 1024, 256 * MIB)
            .withDefault(Integer.toString(4 * MIB));
    public static final ConfigKey<Integer> RANGE_BYTES = ConfigKey.integer(
                    "tiering.read.range.bytes", "The size of a GET that fetches ahead.", 64 * 1024, 64 * MIB)
            .withDefault(Integer.toString(4 * MIB));
    public static final ConfigKey<Long> AHEAD_BYTES = ConfigKey.number(
                    "tiering.read.ahead.bytes.max", "Fetched ahead of one sequential reader.", 0, Long.MAX_VALUE)
            .withDefault(Long.toString(32L * MIB));
    public static final ConfigKey<Long> READ_RATE = ConfigKey.number(
                    "tiering.read.bytes.per.second",
                    "All blocks that a broker reads from the store, for consumers and for compaction; 0 for no limit, else at least 262144.",
                    0,
                    Long.MAX_VALUE)
            .withDefault("0");
    public static final ConfigKey<Integer> READ_THREADS = ConfigKey.integer(
                    "tiering.read.threads", "Threads that check and unpack what was read.", 1, 64)
            .withDefault("2");

    public static final ConfigKey<Long> BACKUP_MS = ConfigKey.number(
                    "tiering.backup.interval.ms",
                    "How often a copy of the cluster's metadata is put into the bucket; 0 for never. A cluster restored from the bucket"
                            + " knows of no topic, access rule or configuration that is younger.",
                    0,
                    Long.MAX_VALUE)
            .withDefault("600000");
    public static final ConfigKey<Integer> BACKUPS = ConfigKey.integer(
                    "tiering.backup.count", "How many such copies are kept.", 1, 100_000)
            .withDefault("24");

    /** A directory has no connections; its disk has a few heads. */
    private static final int LOCAL_CALLS_MAX = 4;

    private static final long READ_RATE_MIN = 256 * 1024;

    private final Config config;

    /** @param config checked against a schema with {@link #addTo these keys} */
    public TieringConfig(Config config) {
        this.config = config;
    }

    /** Adds the keys to a role's schema. */
    public static ConfigSchema.Builder addTo(ConfigSchema.Builder schema) {
        schema.heading("Tiering").keys(STORE, LOCAL_DIR, PREFIX);
        schema.heading("Tiering: the bucket")
                .keys(BUCKET, REGION, ENDPOINT, PROFILE, PATH_STYLE, CHECKSUMS, BULK_DELETE, CHUNKED, EXPECT_CONTINUE)
                .keys(ENCRYPTION, KMS_KEY, STORAGE_CLASS)
                .keys(CREDENTIALS_FILE, CREDENTIALS_PROFILE, ACCESS_KEY, SECRET_KEY, CONNECTIONS);
        schema.heading("Tiering: calls").keys(CHECK_AT_START, CALL_MS, RATE_MIN, RETRY_MS);
        schema.heading("Tiering: uploads")
                .keys(UPLOADS, PART_BYTES, PARTS_IN_FLIGHT, UPLOAD_RATE, BLOCK_BYTES, COMPRESS);
        schema.heading("Tiering: backups of the metadata").keys(BACKUP_MS, BACKUPS);
        return schema.heading("Tiering: reads")
                .keys(CACHE_BYTES, MANIFEST_CACHE_BYTES, READ_BYTES, RANGE_BYTES, AHEAD_BYTES, READ_RATE, READ_THREADS);
    }

    /** An uploading side on a store of the caller's, with the sizes that are configured; the caller closes both. */
    public Offloader newOffloader(
            ObjectStore store, String clusterId, Clock clock, MeterRegistry registry, FaultHandler faults) {
        return new OffloadWorker(store, clusterId, uploads(), clock, registry, faults);
    }

    /** A reading side on a store of the caller's, with the sizes that are configured; the caller closes both. */
    public RemoteSegments newReader(
            ObjectStore store,
            Clock clock,
            MeterRegistry registry,
            Predicate<Alarms.Place> isNamed,
            FaultHandler faults) {
        return new RemoteSegmentReader(store, reads(), clock, registry, isNamed, faults);
    }

    /** How often the metadata is copied into the bucket, in ms; 0 for never. */
    public long backupIntervalMs() {
        return get(BACKUP_MS);
    }

    /** How many copies are kept. */
    public int backupsKept() {
        return get(BACKUPS);
    }

    /** How many reads of the store go on at a time, and as many other calls. */
    int callsMax() {
        return get(STORE) == Store.S3 ? get(CONNECTIONS) : LOCAL_CALLS_MAX;
    }

    /**
     * Refuses a directory that isn't a store yet.
     *
     * @throws StartupException NO_BUCKET
     */
    void requireThere() {
        if (get(STORE) == Store.LOCAL && !LocalObjectStore.isThere(get(LOCAL_DIR))) {
            throw new StartupException(
                    StartupException.Reason.NO_BUCKET,
                    "There is no store in the directory " + get(LOCAL_DIR).toAbsolutePath() + ", which "
                            + config.whence(LOCAL_DIR) + " gives for " + LOCAL_DIR
                            + ": name the cluster's store by its configuration file or by " + STORE
                            + " and the keys with it");
        }
    }

    <T> T get(ConfigKey<T> key) {
        return config.get(key);
    }

    private UploadSettings uploads() {
        return new UploadSettings(
                get(UPLOADS),
                1000,
                get(PART_BYTES),
                get(PARTS_IN_FLIGHT),
                get(BLOCK_BYTES),
                get(COMPRESS),
                get(UPLOAD_RATE));
    }

    private ReadSettings reads() {
        return new ReadSettings(
                get(READ_THREADS),
                callsMax(),
                get(CACHE_BYTES),
                get(READ_BYTES),
                get(RANGE_BYTES),
                get(AHEAD_BYTES),
                readRate());
    }

    /** A largest block, 32 MiB, comes within two minutes at the slowest: whoever waits for one does so for an end. */
    private long readRate() {
        long rate = get(READ_RATE);
        if (rate != 0 && rate < READ_RATE_MIN) {
            throw bad(READ_RATE + "=" + rate + " in " + config.whence(READ_RATE) + " is neither 0 nor " + READ_RATE_MIN
                    + " or more");
        }
        return rate;
    }

    S3Settings s3() {
        String bucket =
                config.find(BUCKET).orElseThrow(() -> bad(BUCKET + " is missing: " + STORE + "=s3 needs a bucket"));
        S3Settings.Dialect usual = get(PROFILE).dialect();
        S3Settings.Dialect dialect = new S3Settings.Dialect(
                config.find(PATH_STYLE).orElse(usual.pathStyle()),
                config.find(CHECKSUMS).map(c -> c == Checksums.WHEN_SUPPORTED).orElse(usual.checksums()),
                config.find(BULK_DELETE).orElse(usual.bulkDelete()),
                config.find(CHUNKED).orElse(usual.chunkedEncoding()),
                config.find(EXPECT_CONTINUE).orElse(usual.expectContinue()));
        return new S3Settings(
                bucket,
                get(REGION),
                config.find(ENDPOINT).map(this::endpoint),
                dialect,
                encryption(),
                config.find(STORAGE_CLASS),
                credentials(),
                get(CONNECTIONS),
                (int) Math.min(10_000, get(CALL_MS)));
    }

    private URI endpoint(String text) {
        try {
            URI uri = URI.create(text);
            if (uri.getScheme() != null && uri.getHost() != null) {
                return uri;
            }
        } catch (IllegalArgumentException malformed) {
            throw bad(ENDPOINT + "=" + text + " in " + config.whence(ENDPOINT) + " is no URL");
        }
        throw bad(ENDPOINT + "=" + text + " in " + config.whence(ENDPOINT) + " is no URL, such as http://host:9000");
    }

    private S3Settings.Encryption encryption() {
        return switch (get(ENCRYPTION)) {
            case BUCKET -> new S3Settings.Encryption.BucketDefault();
            case S3 -> new S3Settings.Encryption.StoreKeys();
            case KMS -> new S3Settings.Encryption.Kms(config.find(KMS_KEY));
        };
    }

    private S3Settings.Credentials credentials() {
        Optional<String> accessKey = config.find(ACCESS_KEY);
        Optional<String> secretKey = config.find(SECRET_KEY);
        if (accessKey.isPresent() != secretKey.isPresent()) {
            throw bad(ACCESS_KEY + " and " + SECRET_KEY + " come together or not at all");
        }
        if (accessKey.isPresent()) {
            return new S3Settings.Credentials.Fixed(accessKey.get(), secretKey.get());
        }
        Optional<Path> file = config.find(CREDENTIALS_FILE);
        return file.isPresent()
                ? new S3Settings.Credentials.ProfileFile(file.get(), get(CREDENTIALS_PROFILE))
                : new S3Settings.Credentials.Chain();
    }

    private static StartupException bad(String line) {
        return new StartupException(StartupException.Reason.BAD_CONFIG, line);
    }
}
