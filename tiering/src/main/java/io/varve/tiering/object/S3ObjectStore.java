package io.varve.tiering.object;

import io.netty.util.concurrent.EventExecutorGroup;
import io.varve.tiering.object.StoreException.Kind;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.http.nio.netty.SdkEventLoopGroup;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.ChecksumAlgorithm;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.CreateMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.DeleteObjectsResponse;
import software.amazon.awssdk.services.s3.model.ListMultipartUploadsResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.ServerSideEncryption;

/**
 * A bucket of Amazon S3 or of a store that speaks like it. Retries nothing itself and sets no deadline: {@link BackoffObjectStore} and
 * {@link DeadlineObjectStore} do, in one place for all callers.
 */
public final class S3ObjectStore implements ObjectStore {

    private static final char CURSOR_SEPARATOR = '\n';
    private static final long CLOSE_MS_MAX = 2_000;

    private final SdkEventLoopGroup loops;
    private final S3AsyncClient s3;
    private final S3Ranges ranges;
    private final S3Settings settings;
    private final String bucket;

    /** Opens a client; says nothing to the store yet. */
    public S3ObjectStore(S3Settings settings) {
        this.settings = settings;
        this.bucket = settings.bucket();
        this.loops = S3Clients.loops();
        this.s3 = S3Clients.open(settings, loops);
        this.ranges = new S3Ranges(settings);
    }

    @Override
    public CompletableFuture<Void> put(String key, ByteBuffer body) {
        ObjectStore.checkKey(key);
        PutObjectRequest.Builder request = PutObjectRequest.builder()
                .bucket(bucket)
                .key(key)
                .contentLength((long) body.remaining())
                .contentType("application/octet-stream");
        settings.storageClass().ifPresent(request::storageClass);
        if (settings.encryption() instanceof S3Settings.Encryption.Kms kms) {
            request.serverSideEncryption(ServerSideEncryption.AWS_KMS);
            kms.keyId().ifPresent(request::ssekmsKeyId);
        } else if (settings.encryption() instanceof S3Settings.Encryption.StoreKeys) {
            request.serverSideEncryption(ServerSideEncryption.AES256);
        }
        return call("PUT", key, () -> sending(body, sent -> s3.putObject(request.build(), sent)), done -> null);
    }

    @Override
    public CompletableFuture<String> createUpload(String key) {
        ObjectStore.checkKey(key);
        CreateMultipartUploadRequest.Builder request =
                CreateMultipartUploadRequest.builder().bucket(bucket).key(key).contentType("application/octet-stream");
        if (settings.dialect().checksums()) {
            // The SDK sends one with every part, and stores hold the completion to what the upload was begun with.
            request.checksumAlgorithm(ChecksumAlgorithm.CRC32);
        }
        settings.storageClass().ifPresent(request::storageClass);
        if (settings.encryption() instanceof S3Settings.Encryption.Kms kms) {
            request.serverSideEncryption(ServerSideEncryption.AWS_KMS);
            kms.keyId().ifPresent(request::ssekmsKeyId);
        } else if (settings.encryption() instanceof S3Settings.Encryption.StoreKeys) {
            request.serverSideEncryption(ServerSideEncryption.AES256);
        }
        return call(
                "CREATE_UPLOAD", key, () -> s3.createMultipartUpload(request.build()), created -> created.uploadId());
    }

    @Override
    public CompletableFuture<Part> putPart(String key, String uploadId, int number, ByteBuffer body) {
        return call(
                "PUT_PART",
                key,
                () -> sending(
                        body,
                        content -> s3.uploadPart(
                                r -> r.bucket(bucket)
                                        .key(key)
                                        .uploadId(uploadId)
                                        .partNumber(number)
                                        .contentLength((long) body.remaining()),
                                content)),
                sent -> new Part(number, sent.eTag(), sent.checksumCRC32() == null ? "" : sent.checksumCRC32()));
    }

    @Override
    public CompletableFuture<Void> completeUpload(String key, String uploadId, List<Part> parts) {
        List<CompletedPart> completed = parts.stream()
                .map(part -> CompletedPart.builder()
                        .partNumber(part.number())
                        .eTag(part.tag())
                        .checksumCRC32(part.checksum().isEmpty() ? null : part.checksum())
                        .build())
                .toList();
        return call(
                "COMPLETE_UPLOAD",
                key,
                () -> s3.completeMultipartUpload(
                        r -> r.bucket(bucket).key(key).uploadId(uploadId).multipartUpload(m -> m.parts(completed))),
                done -> null);
    }

    @Override
    public CompletableFuture<Void> abortUpload(String key, String uploadId) {
        CompletableFuture<Void> aborted = call(
                "ABORT_UPLOAD",
                key,
                () -> s3.abortMultipartUpload(r -> r.bucket(bucket).key(key).uploadId(uploadId)),
                done -> null);
        return unless(aborted, Kind.UPLOAD_GONE, null);
    }

    @Override
    public CompletableFuture<Page<Upload>> uploads(String prefix, Optional<String> cursor) {
        return call(
                "LIST_UPLOADS",
                prefix,
                () -> s3.listMultipartUploads(r -> {
                    r.bucket(bucket).prefix(prefix);
                    cursor.ifPresent(at -> {
                        String uploadId = at.substring(at.indexOf(CURSOR_SEPARATOR) + 1);
                        r.keyMarker(at.substring(0, at.indexOf(CURSOR_SEPARATOR)))
                                .uploadIdMarker(uploadId.isEmpty() ? null : uploadId);
                    });
                }),
                listed -> uploadPage(listed, cursor));
    }

    @Override
    public CompletableFuture<ByteBuffer> get(String key, long from, int length) {
        ByteBuffer read = ByteBuffer.allocate(length);
        CompletableFuture<Void> filled = fill(key, from, new RangeTarget(List.of(read)));
        return cancelling(filled.thenApply(done -> read), filled);
    }

    @Override
    public CompletableFuture<Void> fill(String key, long from, RangeTarget into) {
        ObjectStore.checkKey(key);
        if (into.length() == 0) {
            return CompletableFuture.completedFuture(null);
        }
        return call("GET", key, () -> ranges.fill(key, from, into), done -> done);
    }

    /** The answer to a HEAD has no body: that an object isn't there, which things are given up or deleted for, is asked for once more, where whoever says so must say what isn't there (I-7). */
    @Override
    public CompletableFuture<Optional<Stat>> head(String key) {
        ObjectStore.checkKey(key);
        CompletableFuture<Optional<Stat>> answered = new CompletableFuture<>();
        CompletableFuture<Optional<Stat>> found = call(
                "HEAD",
                key,
                () -> s3.headObject(r -> r.bucket(bucket).key(key)),
                head -> Optional.of(new Stat(
                        key,
                        head.contentLength(),
                        head.lastModified() == null
                                ? Long.MAX_VALUE
                                : head.lastModified().toEpochMilli())));
        found.whenComplete((stat, failure) -> {
            if (failure == null) {
                answered.complete(stat);
            } else if (StoreFailures.of(failure).kind() == Kind.NOT_FOUND) {
                confirmAbsence(key, answered);
            } else {
                answered.completeExceptionally(StoreFailures.of(failure));
            }
        });
        return cancelling(answered, found);
    }

    private void confirmAbsence(String key, CompletableFuture<Optional<Stat>> answered) {
        RangeTarget first = new RangeTarget(List.of(ByteBuffer.allocate(1)));
        CompletableFuture<Void> read = call("GET", key, () -> ranges.fill(key, 0, first), done -> done);
        read.whenComplete((done, failure) -> {
            if (failure == null) {
                answered.completeExceptionally(contradiction(key));
                return;
            }
            StoreException trouble = StoreFailures.of(failure);
            switch (trouble.kind()) {
                case NOT_FOUND -> answered.complete(Optional.empty());
                // An object of no bytes has no first one.
                case TRUNCATED -> answered.completeExceptionally(contradiction(key));
                default -> answered.completeExceptionally(trouble);
            }
        });
        cancelling(answered, read);
    }

    private static StoreException contradiction(String key) {
        return new StoreException(Kind.UNREACHABLE, "HEAD " + key + " was answered with 404, and GET finds it");
    }

    @Override
    public CompletableFuture<Page<Stat>> list(String prefix, Optional<String> cursor, int max) {
        return call(
                "LIST",
                prefix,
                () -> s3.listObjectsV2(
                        r -> r.bucket(bucket).prefix(prefix).maxKeys(max).continuationToken(cursor.orElse(null))),
                listed -> page(listed, cursor));
    }

    @Override
    public CompletableFuture<Void> delete(String key) {
        ObjectStore.checkKey(key);
        CompletableFuture<Void> deleted =
                call("DELETE", key, () -> s3.deleteObject(r -> r.bucket(bucket).key(key)), done -> null);
        return unless(deleted, Kind.NOT_FOUND, null);
    }

    @Override
    public CompletableFuture<Map<String, String>> deleteAll(List<String> keys) {
        if (keys.isEmpty()) {
            return CompletableFuture.completedFuture(Map.of());
        }
        if (settings.dialect().bulkDelete() == S3Settings.BulkDelete.ONE_BY_ONE) {
            return deleteOneByOne(keys);
        }
        List<ObjectIdentifier> ids = keys.stream()
                .map(key -> ObjectIdentifier.builder()
                        .key(ObjectStore.checkKey(key))
                        .build())
                .toList();
        return call(
                "BULK_DELETE",
                keys.get(0),
                () -> s3.deleteObjects(
                        r -> r.bucket(bucket).delete(d -> d.objects(ids).quiet(true))),
                S3ObjectStore::notDeleted);
    }

    @Override
    public String describe() {
        return "s3://" + bucket + settings.endpoint().map(at -> " at " + at).orElse("");
    }

    @Override
    public void close() {
        ranges.close();
        s3.close();
        EventExecutorGroup threads = loops.eventLoopGroup();
        threads.shutdownGracefully(0, CLOSE_MS_MAX, TimeUnit.MILLISECONDS)
                .awaitUninterruptibly(CLOSE_MS_MAX, TimeUnit.MILLISECONDS);
    }

    private CompletableFuture<Map<String, String>> deleteOneByOne(List<String> keys) {
        Map<String, String> failed = new ConcurrentHashMap<>();
        List<CompletableFuture<Void>> calls = keys.stream().map(this::delete).toList();
        List<CompletableFuture<Void>> ends = new ArrayList<>(keys.size());
        for (int i = 0; i < keys.size(); i++) {
            String key = keys.get(i);
            ends.add(calls.get(i).exceptionally(failure -> {
                failed.put(key, StoreFailures.of(failure).getMessage());
                return null;
            }));
        }
        CompletableFuture<Map<String, String>> all =
                CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new)).thenApply(ended -> failed);
        calls.forEach(call -> cancelling(all, call));
        return all;
    }

    /** One try of a write: its bytes are read until it is over, however it ends. */
    private static <T> CompletableFuture<T> sending(
            ByteBuffer bytes, Function<AsyncRequestBody, CompletableFuture<T>> call) {
        UploadBody body = new UploadBody(bytes);
        CompletableFuture<T> sent = call.apply(body);
        sent.whenComplete((done, failure) -> body.end());
        return sent;
    }

    private static Page<Upload> uploadPage(ListMultipartUploadsResponse listed, Optional<String> cursor) {
        List<Upload> uploads = listed.uploads().stream()
                .map(u -> new Upload(u.key(), u.uploadId(), u.initiated().toEpochMilli()))
                .toList();
        if (!Boolean.TRUE.equals(listed.isTruncated())) {
            return new Page<>(uploads, Optional.empty());
        }
        String uploadId = listed.nextUploadIdMarker() == null ? "" : listed.nextUploadIdMarker();
        return new Page<>(uploads, next("LIST_UPLOADS", cursor, listed.nextKeyMarker(), CURSOR_SEPARATOR + uploadId));
    }

    private static Page<Stat> page(ListObjectsV2Response listed, Optional<String> cursor) {
        List<Stat> objects = listed.contents().stream()
                .map(o -> new Stat(o.key(), o.size(), o.lastModified().toEpochMilli()))
                .toList();
        return new Page<>(
                objects,
                Boolean.TRUE.equals(listed.isTruncated())
                        ? next("LIST", cursor, listed.nextContinuationToken(), "")
                        : Optional.empty());
    }

    /** Where the next page starts. A list without end, or one that ends before it is over, is worse than none: what isn't listed counts as gone. */
    private static Optional<String> next(String verb, Optional<String> cursor, String marker, String rest) {
        if (marker == null || marker.isEmpty() || cursor.equals(Optional.of(marker + rest))) {
            throw new StoreException(
                    Kind.REFUSED, verb + ": the store says that there is more, and not where it goes on");
        }
        return Optional.of(marker + rest);
    }

    private static Map<String, String> notDeleted(DeleteObjectsResponse answer) {
        Map<String, String> failed = new LinkedHashMap<>();
        answer.errors().forEach(error -> {
            if (!"NoSuchKey".equals(error.code())) {
                failed.put(error.key(), error.code() + " " + error.message());
            }
        });
        return Collections.unmodifiableMap(failed);
    }

    /**
     * Runs a call, and at once a second time if its signature was too old when it arrived, or if it met a connection that the store was closing because nothing had happened on it. Whatever it fails with becomes a {@link StoreException}. Cancelling what is
     * returned cancels the call itself: what would only follow from it would leave it going on, with its connection and with memory that is used for something else by then (ADR 0098).
     *
     * @param call the client's own future
     * @param answer what its answer comes to; may throw a {@link StoreException}
     */
    private <A, T> CompletableFuture<T> call(
            String verb, String key, Supplier<CompletableFuture<A>> call, Function<A, T> answer) {
        CompletableFuture<T> answered = new CompletableFuture<>();
        call(verb, key, call, answer, true, answered);
        return answered;
    }

    private static <A, T> void call(
            String verb,
            String key,
            Supplier<CompletableFuture<A>> call,
            Function<A, T> answer,
            boolean isFirst,
            CompletableFuture<T> answered) {
        CompletableFuture<A> sent;
        try {
            sent = call.get();
        } catch (RuntimeException e) {
            answered.completeExceptionally(S3Failures.translate(verb, key, e));
            return;
        }
        cancelling(answered, sent);
        sent.whenComplete((got, failure) -> {
            Throwable root = StoreFailures.root(failure);
            if (failure == null) {
                complete(answered, verb, key, () -> answer.apply(got));
            } else if (isFirst && !answered.isDone() && S3Failures.mayPassAtOnce(verb, root)) {
                call(verb, key, call, answer, false, answered);
            } else {
                answered.completeExceptionally(S3Failures.translate(verb, key, root));
            }
        });
    }

    private static <T> void complete(CompletableFuture<T> answered, String verb, String key, Supplier<T> answer) {
        try {
            answered.complete(answer.get());
        } catch (RuntimeException e) {
            answered.completeExceptionally(S3Failures.translate(verb, key, e));
        }
    }

    private static <T> CompletableFuture<T> unless(CompletableFuture<T> call, Kind kind, T instead) {
        CompletableFuture<T> answered = call.exceptionallyCompose(failure -> {
            StoreException trouble = StoreFailures.of(failure);
            return trouble.kind() == kind
                    ? CompletableFuture.completedFuture(instead)
                    : CompletableFuture.failedFuture(trouble);
        });
        return cancelling(answered, call);
    }

    /** Who cancels the answer cancels the call. */
    private static <T> CompletableFuture<T> cancelling(CompletableFuture<T> answered, CompletableFuture<?> call) {
        answered.whenComplete((answer, failure) -> {
            if (answered.isCancelled()) {
                call.cancel(true);
            }
        });
        return answered;
    }
}
