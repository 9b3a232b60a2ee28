package io.varve.tiering.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.tiering.object.StoreException.Kind;
import io.varve.tiering.testing.FickleWire;
import io.varve.tiering.testing.PlainS3Server;
import io.varve.tiering.testing.PlainS3Server.Trouble;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Cases S16 and C15: a store that answers 400 to checksum headers, trailers and chunked signing and wants Content-MD5 on bulk deletes keeps the
 * whole contract with the generic profile, and is found out by the probe with another; and what stores do on bad days has its name.
 */
class PlainS3StoreIT extends ObjectStoreContract {

    private PlainS3Server server;

    @TempDir
    Path directory;

    @Override
    ObjectStore open() throws Exception {
        server = new PlainS3Server(false);
        return new S3ObjectStore(settings(server.endpoint(), S3Settings.Profile.GENERIC, fixed("key-1")));
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void theProbeSaysWhatAStoreDoesNotTake() throws Exception {
        try (ObjectStore newer =
                new S3ObjectStore(settings(server.endpoint(), S3Settings.Profile.MINIO, fixed("key-1")))) {
            BucketProbe.Verdict verdict = get(new BucketProbe(newer, "", "1").run());
            assertThat(verdict.isSound()).isFalse();
            assertThat(verdict.kind()).isEqualTo(Kind.REFUSED);
            assertThat(verdict.line()).contains("PUT fails", "400", "tiering.s3.profile=generic");
        }
    }

    @Test
    void aBulkDeleteHasAContentMd5WhereTheStoreWantsOne() throws Exception {
        S3Settings.Dialect dialect =
                new S3Settings.Dialect(true, false, S3Settings.BulkDelete.CONTENT_MD5, false, false);
        S3Settings.Dialect without = new S3Settings.Dialect(true, false, S3Settings.BulkDelete.CHECKSUM, false, false);
        try (PlainS3Server lenient = new PlainS3Server(true);
                ObjectStore store = new S3ObjectStore(settings(lenient.endpoint(), dialect, fixed("key-1")));
                ObjectStore other = new S3ObjectStore(settings(lenient.endpoint(), without, fixed("key-1")))) {
            get(store.put("a", ByteBuffer.allocate(10)));
            assertFails(other.deleteAll(List.of("a", "b")), Kind.REFUSED);
            assertThat(get(store.deleteAll(List.of("a", "b")))).isEmpty();
            assertThat(get(store.head("a"))).isEmpty();
        }
    }

    @Test
    void encryptionAndStorageClassAreAskedForWithEachObjectHoweverItIsWritten() throws Exception {
        Map<S3Settings.Encryption, Map<String, String>> asked = Map.of(
                new S3Settings.Encryption.BucketDefault(),
                Map.of(),
                new S3Settings.Encryption.StoreKeys(),
                Map.of("x-amz-server-side-encryption", "AES256"),
                new S3Settings.Encryption.Kms(Optional.empty()),
                Map.of("x-amz-server-side-encryption", "aws:kms"),
                new S3Settings.Encryption.Kms(Optional.of("key-7")),
                Map.of(
                        "x-amz-server-side-encryption",
                        "aws:kms",
                        "x-amz-server-side-encryption-aws-kms-key-id",
                        "key-7"));
        for (Map.Entry<S3Settings.Encryption, Map<String, String>> one : asked.entrySet()) {
            S3Settings plain = settings(server.endpoint(), S3Settings.Profile.GENERIC, fixed("key-1"));
            S3Settings settings = new S3Settings(
                    plain.bucket(),
                    plain.region(),
                    plain.endpoint(),
                    plain.dialect(),
                    one.getKey(),
                    Optional.of("STANDARD_IA"),
                    plain.credentials(),
                    plain.connectionsMax(),
                    plain.connectMs());
            int before = server.writes().size();
            try (ObjectStore store = new S3ObjectStore(settings)) {
                get(store.put("whole", ByteBuffer.allocate(10)));
                get(store.abortUpload("parts", get(store.createUpload("parts"))));
            }
            Map<String, String> wanted = new TreeMap<>(one.getValue());
            wanted.put("x-amz-storage-class", "STANDARD_IA");
            List<Map<String, String>> writes = server.writes();
            assertThat(writes.subList(before, writes.size())).containsExactly(wanted, wanted);
        }
    }

    @Test
    void everyTroubleHasItsName() throws Exception {
        try (ObjectStore store =
                new S3ObjectStore(settings(server.endpoint(), S3Settings.Profile.GENERIC, fixed("key-1")))) {
            get(store.put("k", ByteBuffer.allocate(2_000_000)));
            assertTold(store, new Trouble.Answer(503, "SlowDown"), Kind.THROTTLED);
            assertTold(store, new Trouble.Answer(500, "InternalError"), Kind.THROTTLED);
            assertTold(store, new Trouble.Answer(429, "TooManyRequests"), Kind.THROTTLED);
            assertTold(store, new Trouble.Answer(403, "AccessDenied"), Kind.FORBIDDEN);
            server.next(new Trouble.Answer(403, "RequestTimeTooSkewed"));
            assertTold(store, new Trouble.Answer(403, "RequestTimeTooSkewed"), Kind.FORBIDDEN);
            server.next(new Trouble.Answer(400, "ExpiredToken"));
            assertTold(store, new Trouble.Answer(400, "ExpiredToken"), Kind.FORBIDDEN);
            assertTold(store, new Trouble.Answer(307, "TemporaryRedirect"), Kind.THROTTLED);
            assertTold(store, new Trouble.Answer(400, "IncompleteBody"), Kind.UNREACHABLE);
            assertTold(store, new Trouble.Answer(412, "PreconditionFailed"), Kind.REFUSED);
            assertTold(store, new Trouble.Answer(404, "NoSuchBucket"), Kind.NO_BUCKET);
            assertTold(store, new Trouble.Answer(404, "NoSuchKey"), Kind.NOT_FOUND);
            assertTold(store, new Trouble.Reset(), Kind.UNREACHABLE);
            assertThat(get(store.get("k", 0, 1_000_000)).remaining()).isEqualTo(1_000_000);
        }
    }

    /** S3 begins to answer a completion before it knows how it ends. */
    @Test
    void aCompletionThatFailsBehindA200HasFailed() throws Exception {
        try (ObjectStore store = generic()) {
            String upload = get(store.createUpload("k"));
            ObjectStore.Part part = get(store.putPart("k", upload, 1, ByteBuffer.allocate(1000)));
            server.next(new Trouble.Answer(200, "InternalError"));
            assertFails(store.completeUpload("k", upload, List.of(part)), Kind.THROTTLED);
            assertThat(get(store.head("k"))).isEmpty();
            get(store.completeUpload("k", upload, List.of(part)));
            assertThat(get(store.head("k"))).isPresent();
        }
    }

    /** Keys that ran out on the way are asked for again, and a clock that is off is set by the answer; once, and not for ever. */
    @Test
    void aSignatureThatIsTooOldIsMadeAnewOnce() throws Exception {
        try (ObjectStore store = generic()) {
            get(store.put("k", ByteBuffer.allocate(1000)));
            for (Trouble trouble :
                    List.of(new Trouble.Answer(400, "ExpiredToken"), new Trouble.Answer(403, "RequestTimeTooSkewed"))) {
                server.next(trouble);
                assertThat(get(store.get("k", 0, 1000)).remaining()).isEqualTo(1000);
                server.next(trouble);
                get(store.put("k2", ByteBuffer.allocate(1000)));
                server.next(trouble);
                // Without a body, so without a reason.
                assertThat(get(store.head("k"))).isPresent();
            }
            server.next(new Trouble.Answer(403, "AccessDenied"));
            assertFails(store.get("k", 0, 1000), Kind.FORBIDDEN);
        }
    }

    @Test
    void aClockThatIsOffIsToldAsOne() throws Exception {
        try (ObjectStore store = generic()) {
            server.next(new Trouble.Answer(403, "RequestTimeTooSkewed"));
            server.next(new Trouble.Answer(403, "RequestTimeTooSkewed"));
            assertThat(StoreFailures.of(failureOf(store.get("k", 0, 10))).getMessage())
                    .contains("403 RequestTimeTooSkewed", "this machine's clock");
        }
    }

    @Test
    void aBucketOfAnotherRegionIsToldWithItsRegion() throws Exception {
        try (ObjectStore store = generic()) {
            server.next(new Trouble.Body(
                    301,
                    "<Error><Code>PermanentRedirect</Code><Message>elsewhere</Message></Error>",
                    "x-amz-bucket-region",
                    "eu-south-2"));
            CompletableFuture<Void> put = store.put("k", ByteBuffer.allocate(10));
            assertFails(put, Kind.REFUSED);
            assertThat(StoreFailures.of(failureOf(put)).getMessage()).contains("301 PermanentRedirect", "eu-south-2");
        }
    }

    /** I-7: a proxy whose store is away says 404 too. It knows nothing of objects. */
    @Test
    void onlyTheStoreItselfSaysThatAnObjectIsNotThere() throws Exception {
        try (ObjectStore store = generic()) {
            get(store.put("k", ByteBuffer.allocate(1000)));
            Trouble.Body proxy = new Trouble.Body(404, "404 page not found", "Content-Type", "text/plain");
            assertTold(store, proxy, Kind.UNREACHABLE);
            server.next(proxy);
            assertFails(store.delete("k"), Kind.UNREACHABLE);
            String upload = get(store.createUpload("k2"));
            server.next(proxy);
            assertFails(store.putPart("k2", upload, 1, ByteBuffer.allocate(10)), Kind.UNREACHABLE);
            assertTold(store, new Trouble.Answer(404, "NoSuchKey"), Kind.NOT_FOUND);
        }
    }

    /** I-7: the answer to a HEAD has no words, and a proxy that says 404 of everything answers it as the store would. Copies are kept, uploads given up and deletions believed by what it says. */
    @Test
    void aProxyThatSays404ToAHeadHasNotSaidThatTheObjectIsNotThere() throws Exception {
        try (ObjectStore store = generic()) {
            get(store.put("k", ByteBuffer.allocate(1000)));
            get(store.put("empty", ByteBuffer.allocate(0)));
            Trouble.Body proxy = new Trouble.Body(404, "404 page not found", "Content-Type", "text/plain");
            server.next(proxy);
            assertFails(store.head("k"), Kind.UNREACHABLE);
            server.next(proxy);
            assertFails(store.head("empty"), Kind.UNREACHABLE);
            server.always(proxy);
            assertFails(store.head("k"), Kind.UNREACHABLE);
            assertFails(store.head("gone"), Kind.UNREACHABLE);
            assertFails(new ClusterMarker(store, "c", "c").checkOurs(), Kind.UNREACHABLE);
            server.mend();
            assertThat(get(store.head("k"))).isPresent();
            assertThat(get(store.head("gone"))).isEmpty();
            server.always(new Trouble.Answer(404, "NoSuchBucket"));
            assertFails(store.head("gone"), Kind.NO_BUCKET);
        }
    }

    /** S24: the answer to a HEAD has no body; what its status line says is better than a number. */
    @Test
    void aHeadThatIsRefusedIsToldInTheWordsOfItsStatusLine() throws Exception {
        try (ObjectStore store = generic()) {
            server.next(new Trouble.Answer(503, "SlowDown"));
            assertThatThrownBy(store.head("k")::get)
                    .satisfies(e -> assertThat(StoreFailures.of(e))
                            .hasMessageEndingWith("HEAD k: 503 Service Unavailable")
                            .extracting(StoreException::kind)
                            .isEqualTo(Kind.THROTTLED));
        }
    }

    /** A store closes what it has heard nothing on for a while, and a call goes out at that very moment: it is made again, on another connection, and nobody takes it for an outage. */
    @Test
    void aCallThatMeetsAConnectionWhichIsBeingClosedIsMadeOnceMore() throws Exception {
        try (FickleWire wire = new FickleWire(server.endpoint());
                ObjectStore store = new S3ObjectStore(
                        settings(wire.endpoint(), S3Settings.Profile.GENERIC.dialect(), fixed("key-1"), 1))) {
            get(store.put("k", ByteBuffer.allocate(100_000)));
            assertThat(get(store.get("k", 0, 100_000)).remaining()).isEqualTo(100_000);
            List<Supplier<CompletableFuture<?>>> calls = List.of(
                    () -> store.get("k", 0, 100_000),
                    () -> store.head("k"),
                    () -> store.put("k2", ByteBuffer.allocate(2_000_000)),
                    () -> store.list("", Optional.empty(), 10),
                    () -> store.delete("k2"));
            for (Supplier<CompletableFuture<?>> call : calls) {
                int before = wire.broken();
                wire.breakWhatIsUsedAgain(true);
                get(call.get());
                assertThat(wire.broken()).isGreaterThan(before);
                // What is used from now on was answered over by nobody yet, or is left alone.
                wire.breakWhatIsUsedAgain(false);
                get(call.get());
            }
        }
    }

    /** A proxy that doesn't pass "100 Continue" on: large writes end at our deadline, and hold up nobody else. */
    @Test
    void aWriteWhoseContinuationNeverComesIsGivenUpAtOurOwnDeadline() throws Exception {
        S3Settings.Dialect asking = new S3Settings.Dialect(true, false, S3Settings.BulkDelete.ONE_BY_ONE, false, true);
        S3Settings.Dialect notAsking =
                new S3Settings.Dialect(true, false, S3Settings.BulkDelete.ONE_BY_ONE, false, false);
        try (FickleWire wire = new FickleWire(server.endpoint());
                ObjectStore store = new DeadlineObjectStore(
                        new S3ObjectStore(settings(wire.endpoint(), asking, fixed("key-1"), 1)),
                        1_000,
                        Long.MAX_VALUE / 2_000);
                ObjectStore other = new S3ObjectStore(settings(wire.endpoint(), notAsking, fixed("key-1")))) {
            get(store.put("large", ByteBuffer.allocate(4_000_000)));
            wire.swallowContinue();
            assertFails(store.put("large-2", ByteBuffer.allocate(4_000_000)), Kind.TIMED_OUT);
            get(store.put("small", ByteBuffer.allocate(1_000)));
            assertThat(get(store.head("large-2"))).isEmpty();
            get(other.put("large-2", ByteBuffer.allocate(4_000_000)));
            assertThat(get(store.head("large-2"))).isPresent();
        }
    }

    /** What isn't listed counts as gone: a page that can't be gone on from is no list. */
    @Test
    void aListThatDoesNotSayWhereItGoesOnIsNone() throws Exception {
        try (ObjectStore store = generic()) {
            server.next(listing("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"));
            assertFails(store.list("", Optional.empty(), 10), Kind.REFUSED);
            server.next(
                    listing(
                            "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>a</NextContinuationToken></ListBucketResult>"));
            assertFails(store.list("", Optional.of("a"), 10), Kind.REFUSED);
            server.next(listing(
                    "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated></ListMultipartUploadsResult>"));
            assertFails(store.uploads("", Optional.empty()), Kind.REFUSED);
            server.next(
                    listing(
                            "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>a</NextKeyMarker></ListMultipartUploadsResult>"));
            Optional<String> cursor = get(store.uploads("", Optional.empty())).cursor();
            assertThat(cursor).isPresent();
            assertThat(get(store.uploads("", cursor)).items()).isEmpty();
        }
    }

    private static Trouble listing(String xml) {
        return new Trouble.Body(200, xml, "Content-Type", "application/xml");
    }

    private static Throwable failureOf(CompletableFuture<?> call) {
        return call.handle((done, failure) -> failure)
                .orTimeout(10, TimeUnit.SECONDS)
                .join();
    }

    private ObjectStore generic() {
        return new S3ObjectStore(settings(server.endpoint(), S3Settings.Profile.GENERIC, fixed("key-1")));
    }

    @Test
    void aStoreThatStallsIsGivenUpAtOurOwnDeadline() throws Exception {
        try (ObjectStore store = new DeadlineObjectStore(
                new S3ObjectStore(settings(server.endpoint(), S3Settings.Profile.GENERIC, fixed("key-1"))),
                500,
                Long.MAX_VALUE / 2000)) {
            server.next(new Trouble.Stall());
            assertFails(store.put("k", ByteBuffer.allocate(1000)), Kind.TIMED_OUT);
            get(store.put("k2", ByteBuffer.allocate(1000)));
        }
    }

    /** ADR 0098: there is one connection, and the next call has it only if the one before is really over; then it reads its memory no longer either. */
    @Test
    void everyCallThatIsGivenUpIsOver() throws Exception {
        S3Settings one = settings(server.endpoint(), S3Settings.Profile.GENERIC.dialect(), fixed("key-1"), 1);
        try (ObjectStore store = new DeadlineObjectStore(new S3ObjectStore(one), 1_000, Long.MAX_VALUE / 2_000)) {
            get(store.put("k", ByteBuffer.allocate(1_000)));
            String upload = get(store.createUpload("parts"));
            List<Supplier<CompletableFuture<?>>> calls = List.of(
                    () -> store.put("k2", ByteBuffer.allocate(1_000)),
                    () -> store.putPart("parts", upload, 1, ByteBuffer.allocate(1_000)),
                    () -> store.createUpload("parts-2"),
                    () -> store.head("k"),
                    () -> store.list("", Optional.empty(), 10),
                    () -> store.uploads("", Optional.empty()),
                    () -> store.delete("k2"));
            for (Supplier<CompletableFuture<?>> call : calls) {
                server.next(new Trouble.Stall());
                assertFails(call.get(), Kind.TIMED_OUT);
                assertThat(get(store.head("k"))).isPresent();
            }
        }
    }

    /** There is one connection: the second read has it only if the first one is really over. */
    @Test
    void aReadThatIsGivenUpBreaksItsConnectionOff() throws Exception {
        S3Settings one = settings(server.endpoint(), S3Settings.Profile.GENERIC.dialect(), fixed("key-1"), 1);
        try (ObjectStore store = new DeadlineObjectStore(new S3ObjectStore(one), 2000, Long.MAX_VALUE / 2000)) {
            get(store.put("k", ByteBuffer.allocate(1_000_000)));
            for (Trouble trouble : List.of(new Trouble.Stall(), new Trouble.Freeze())) {
                server.next(trouble);
                assertFails(store.get("k", 0, 1_000_000), Kind.TIMED_OUT);
                assertThat(get(store.get("k", 0, 1_000_000)).remaining()).isEqualTo(1_000_000);
            }
        }
    }

    /** There is one connection, and the first read keeps it for as long as its deadline allows. */
    @Test
    void aReadThatWaitsForAConnectionHasItsDeadlineStillBeforeIt() throws Exception {
        S3Settings one = settings(server.endpoint(), S3Settings.Profile.GENERIC.dialect(), fixed("key-1"), 1);
        long noLimit = Long.MAX_VALUE / 2000;
        try (ObjectStore store = new TurnsObjectStore(
                new DeadlineObjectStore(new S3ObjectStore(one), 2000, noLimit), 1, 10, 10_000, noLimit)) {
            get(store.put("k", ByteBuffer.allocate(1_000_000)));
            CompletableFuture<Void> met = server.next(new Trouble.Freeze());
            CompletableFuture<ByteBuffer> stuck = store.get("k", 0, 1_000_000);
            get(met);
            CompletableFuture<ByteBuffer> waiting = store.get("k", 0, 1_000_000);
            assertThat(get(waiting).remaining()).isEqualTo(1_000_000);
            assertFails(stuck, Kind.TIMED_OUT);
        }
    }

    /** Nobody waits for what follows, which may be an object of gigabytes. */
    @Test
    void aStoreThatIgnoresARangeIsFoundOutByTheHeadOfItsAnswer() throws Exception {
        try (ObjectStore store =
                new S3ObjectStore(settings(server.endpoint(), S3Settings.Profile.GENERIC, fixed("key-1")))) {
            server.next(new Trouble.Whole());
            assertFails(store.get("k", 10, 1_000), Kind.REFUSED);
        }
    }

    @Test
    void aReadThatWaitsForItsTurnCanBeGivenUpToo() throws Exception {
        S3Settings one = settings(server.endpoint(), S3Settings.Profile.GENERIC.dialect(), fixed("key-1"), 1);
        try (ObjectStore store = new S3ObjectStore(one)) {
            get(store.put("k", ByteBuffer.allocate(1_000_000)));
            CompletableFuture<Void> met = server.next(new Trouble.Freeze());
            CompletableFuture<ByteBuffer> stuck = store.get("k", 0, 1_000_000);
            get(met);
            CompletableFuture<ByteBuffer> waiting = store.get("k", 0, 1_000_000);
            CompletableFuture<ByteBuffer> last = store.get("k", 0, 1_000_000);
            waiting.cancel(true);
            assertThat(last).isNotDone();
            stuck.cancel(true);
            assertThat(get(last).remaining()).isEqualTo(1_000_000);
        }
    }

    @Test
    void readsOfAStoreThatIsClosedSaySo() throws Exception {
        S3Settings one = settings(server.endpoint(), S3Settings.Profile.GENERIC.dialect(), fixed("key-1"), 1);
        ObjectStore store = new S3ObjectStore(one);
        get(store.put("k", ByteBuffer.allocate(1_000_000)));
        CompletableFuture<Void> met = server.next(new Trouble.Freeze());
        CompletableFuture<ByteBuffer> stuck = store.get("k", 0, 1_000_000);
        get(met);
        CompletableFuture<ByteBuffer> waiting = store.get("k", 0, 1_000_000);
        store.close();
        assertFails(stuck, Kind.CLOSED);
        assertFails(waiting, Kind.CLOSED);
        assertFails(store.get("k", 0, 1_000_000), Kind.CLOSED);
    }

    /** Whoever stops a process, or runs a command, waits for it. */
    @Test
    void closingWaitsForNothingAndEndsWhatIsUnderWay() throws Exception {
        ObjectStore store = new S3ObjectStore(settings(server.endpoint(), S3Settings.Profile.GENERIC, fixed("key-1")));
        CompletableFuture<Void> met = server.next(new Trouble.Stall());
        CompletableFuture<Void> put = store.put("k", ByteBuffer.allocate(1_000));
        get(met);
        long beganNs = System.nanoTime();
        store.close();
        assertThat(Duration.ofNanos(System.nanoTime() - beganNs)).isLessThan(Duration.ofMillis(1_800));
        assertThat(put).failsWithin(Duration.ofSeconds(5));
    }

    /** S18: keys that live a minute and are rotated by file are used from the moment they are there. */
    @Test
    void rotatedKeysAreUsedWithoutARestart() throws Exception {
        Path file = directory.resolve("credentials");
        write(file, "first", 1);
        try (ObjectStore store = new S3ObjectStore(settings(
                server.endpoint(),
                S3Settings.Profile.GENERIC,
                new S3Settings.Credentials.ProfileFile(file, "default")))) {
            server.rotateTo("first");
            get(store.put("k", ByteBuffer.allocate(10)));
            server.rotateTo("second");
            assertFails(store.head("k"), Kind.FORBIDDEN);
            write(file, "second", 2);
            assertThat(get(store.head("k"))).isPresent();
            assertThat(server.accessKeys()).contains("first", "second");
        }
    }

    private void assertTold(ObjectStore store, Trouble trouble, Kind kind) {
        server.next(trouble);
        assertFails(store.get("k", 0, 1_000_000), kind);
    }

    private static void write(Path file, String accessKey, int time) throws Exception {
        Files.writeString(
                file,
                "[default]\naws_access_key_id=" + accessKey + "\naws_secret_access_key=secret-" + accessKey + "\n");
        Files.setLastModifiedTime(file, FileTime.fromMillis(1_700_000_000_000L + time * 10_000L));
    }

    private static S3Settings.Credentials fixed(String accessKey) {
        return new S3Settings.Credentials.Fixed(accessKey, "secret");
    }

    private static S3Settings settings(URI endpoint, S3Settings.Profile profile, S3Settings.Credentials credentials) {
        return settings(endpoint, profile.dialect(), credentials);
    }

    private static S3Settings settings(URI endpoint, S3Settings.Dialect dialect, S3Settings.Credentials credentials) {
        return settings(endpoint, dialect, credentials, 16);
    }

    private static S3Settings settings(
            URI endpoint, S3Settings.Dialect dialect, S3Settings.Credentials credentials, int connections) {
        return new S3Settings(
                PlainS3Server.BUCKET,
                "us-east-1",
                Optional.of(endpoint),
                dialect,
                new S3Settings.Encryption.BucketDefault(),
                Optional.empty(),
                credentials,
                connections,
                5000);
    }
}
