package io.varve.tiering.object;

import java.time.Duration;
import java.util.function.UnaryOperator;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.http.nio.netty.SdkEventLoopGroup;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.DefaultRetryStrategy;
import software.amazon.awssdk.services.s3.LegacyMd5Plugin;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3BaseClientBuilder;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3Configuration;

/** Makes the SDK's client as a store wants it. */
final class S3Clients {

    /** Calls have deadlines of ours, which break them off; this is for what is left over if one should fail to. */
    private static final Duration SILENCE_MAX = Duration.ofMinutes(2);

    private S3Clients() {}

    /** Loops for a client. Whoever has them closes them: of its own the SDK waits for two seconds in which nothing happens, whenever a process or a command ends. */
    static SdkEventLoopGroup loops() {
        // As few as keep up: on a busy machine each one more is one more that appends wait behind.
        return SdkEventLoopGroup.builder()
                .numberOfThreads(Math.max(1, Runtime.getRuntime().availableProcessors() / 2))
                .build();
    }

    /** For everything but the bodies of objects that are read. */
    static S3AsyncClient open(S3Settings settings, SdkEventLoopGroup loops) {
        return configured(S3AsyncClient.builder(), settings)
                .httpClientBuilder(NettyNioAsyncHttpClient.builder()
                        .eventLoopGroup(loops)
                        .maxConcurrency(settings.connectionsMax())
                        .maxPendingConnectionAcquires(100_000)
                        .connectionAcquisitionTimeout(Duration.ofMinutes(5))
                        .connectionTimeout(Duration.ofMillis(settings.connectMs())))
                .build();
    }

    /**
     * A client whose callers wait.
     *
     * @param around wraps the client's way to the network
     */
    static S3Client openBlocking(S3Settings settings, UnaryOperator<SdkHttpClient> around) {
        Apache5HttpClient.Builder http = Apache5HttpClient.builder()
                .maxConnections(settings.connectionsMax())
                .connectionTimeout(Duration.ofMillis(settings.connectMs()))
                .socketTimeout(SILENCE_MAX);
        return configured(S3Client.builder(), settings)
                .httpClientBuilder(defaults -> around.apply(http.buildWithDefaults(defaults)))
                .build();
    }

    private static <B extends S3BaseClientBuilder<B, ?>> B configured(B builder, S3Settings settings) {
        S3Settings.Dialect dialect = settings.dialect();
        builder.region(Region.of(settings.region()))
                .credentialsProvider(credentials(settings.credentials()))
                .forcePathStyle(dialect.pathStyle())
                .requestChecksumCalculation(
                        dialect.checksums()
                                ? RequestChecksumCalculation.WHEN_SUPPORTED
                                : RequestChecksumCalculation.WHEN_REQUIRED)
                // Blocks have their own checksums; the store's would only be counted again.
                .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
                .serviceConfiguration(S3Configuration.builder()
                        .chunkedEncodingEnabled(dialect.chunkedEncoding())
                        .expectContinueEnabled(dialect.expectContinue())
                        .build())
                .overrideConfiguration(o -> o.retryStrategy(DefaultRetryStrategy.doNotRetry()));
        settings.endpoint().ifPresent(builder::endpointOverride);
        if (dialect.bulkDelete() == S3Settings.BulkDelete.CONTENT_MD5) {
            builder.addPlugin(LegacyMd5Plugin.create());
        }
        return builder;
    }

    private static AwsCredentialsProvider credentials(S3Settings.Credentials from) {
        if (from instanceof S3Settings.Credentials.Fixed fixed) {
            return StaticCredentialsProvider.create(AwsBasicCredentials.create(fixed.accessKey(), fixed.secretKey()));
        }
        if (from instanceof S3Settings.Credentials.ProfileFile file) {
            return new RotatedFileCredentials(file.file(), file.profile());
        }
        // The first provider that answers is not kept: keys that appear, move or go later are found.
        return DefaultCredentialsProvider.builder()
                .reuseLastProviderEnabled(false)
                .build();
    }
}
