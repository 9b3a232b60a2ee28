package io.varve.tiering.testing;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A store as S3 was ten years ago: path style only, no checksum headers, no chunked signing, Content-MD5 wanted on bulk deletes; whatever
 * it doesn't know it answers with 400, or, if it is lenient, overlooks in bulk deletes. And it has bad days on order. One bucket, in memory or
 * in a directory, as near or as far as is wanted.
 */
public final class PlainS3Server implements AutoCloseable {

    /** The bucket that it has. */
    public static final String BUCKET = "plain";

    /** How its threads are called. */
    public static final String THREAD_NAME = "plain-s3";

    private static final int PIECE_BYTES = 64 * 1024;
    private static final Pattern ACCESS_KEY = Pattern.compile("Credential=([^/]+)/");
    private static final Pattern RANGE = Pattern.compile("bytes=(\\d+)-(\\d+)");
    private static final Pattern KEY = Pattern.compile("<Key>([^<]*)</Key>");
    private static final Pattern PART = Pattern.compile("<PartNumber>(\\d+)</PartNumber>");
    private static final Pattern TAG = Pattern.compile("<ETag>([^<]*)</ETag>");

    private final HttpServer server;
    private final AtomicLong bodyNs = new AtomicLong();
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> new Thread(task, THREAD_NAME));
    private final TreeMap<String, ObjectBytes> objects = new TreeMap<>();
    private final Optional<Path> directory;
    private final TreeMap<String, TreeMap<Integer, Part>> uploads = new TreeMap<>();
    private final ConcurrentLinkedQueue<Planned> troubles = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<String> accessKeys = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Map<String, String>> writes = new ConcurrentLinkedQueue<>();
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final boolean lenient;
    private volatile String onlyAccessKey;
    private final AtomicLong requests = new AtomicLong();
    private volatile Trouble lasting;
    private volatile int percent = 100;
    private volatile long firstByteMs;
    private volatile long bytesPerSecond;
    private int uploadNumber;

    /** A part of an upload that is not complete. */
    private record Part(String tag, ObjectBytes bytes) {}

    /** What goes wrong with one request. */
    public sealed interface Trouble {
        /** Answers with a status and an error code. */
        record Answer(int status, String code) implements Trouble {}

        /** Answers with a status, a body of its own and a header, if it is named. */
        record Body(int status, String body, String header, String value) implements Trouble {}

        /** Breaks the connection in the middle of the body. */
        record Reset() implements Trouble {}

        /** Doesn't answer before the server stops. */
        record Stall() implements Trouble {}

        /** The beginning of an answer, and then nothing more. */
        record Freeze() implements Trouble {}

        /** The range is ignored: the beginning of a whole, long object, and then nothing more. */
        record Whole() implements Trouble {}
    }

    /** Starts on a free port of this machine, with its bucket in memory. */
    public PlainS3Server(boolean lenient) throws IOException {
        this(lenient, Optional.empty());
    }

    /**
     * Starts on a free port of this machine.
     *
     * @param directory where the objects' bytes are; in memory if empty
     */
    public PlainS3Server(boolean lenient, Optional<Path> directory) throws IOException {
        this.lenient = lenient;
        this.directory = directory;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    /** Where it serves. */
    public URI endpoint() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    /** The configuration that leads to it. */
    public Map<String, String> config() {
        return new TreeMap<>(Map.of(
                "tiering.store", "s3",
                "tiering.s3.bucket", BUCKET,
                "tiering.s3.endpoint", endpoint().toString(),
                "tiering.s3.profile", "generic",
                "tiering.s3.access.key", "any",
                "tiering.s3.secret.key", "any"));
    }

    private record Planned(Trouble trouble, CompletableFuture<Void> met) {}

    /**
     * The next request goes wrong.
     *
     * @return done when there was one
     */
    public CompletableFuture<Void> next(Trouble trouble) {
        Planned planned = new Planned(trouble, new CompletableFuture<>());
        troubles.add(planned);
        return planned.met();
    }

    /** Every request goes wrong like this from now on. */
    public void always(Trouble trouble) {
        often(100, trouble);
    }

    /** So many of a hundred requests go wrong like this from now on, evenly spread. */
    public void often(int ofHundred, Trouble trouble) {
        percent = ofHundred;
        lasting = trouble;
    }

    /** Nothing goes wrong from now on. */
    public void mend() {
        lasting = null;
        troubles.clear();
    }

    /**
     * Every GET is answered like this from now on, as a store does that is far away and has enough for everybody.
     *
     * @param firstByteMs until the answer begins
     * @param bytesPerSecond of one answer; 0 for no limit
     */
    public void pace(long firstByteMs, long bytesPerSecond) {
        this.firstByteMs = firstByteMs;
        this.bytesPerSecond = bytesPerSecond;
    }

    /** The time that the GETs of objects took so far, all together: by how much it grows says how many there are at a time. */
    public long getNs() {
        return bodyNs.get();
    }

    /** What each request that begins an object, whole or in parts, asked for in headers of S3's own, in order. */
    public List<Map<String, String>> writes() {
        return List.copyOf(writes);
    }

    private void note(HttpExchange exchange) {
        Map<String, String> asked = new TreeMap<>();
        exchange.getRequestHeaders().forEach((name, values) -> {
            String lower = name.toLowerCase(java.util.Locale.ROOT);
            if (lower.startsWith("x-amz-server-side-") || lower.startsWith("x-amz-storage-")) {
                asked.put(lower, values.get(0));
            }
        });
        writes.add(asked);
    }

    /** The keys of all objects. */
    public synchronized List<String> keys() {
        return List.copyOf(objects.keySet());
    }

    /** The bytes of an object. */
    public synchronized byte[] content(String key) throws IOException {
        ObjectBytes object = objects.get(key);
        byte[] bytes = new byte[(int) object.length()];
        try (ObjectBytes.Reader reader = object.open()) {
            reader.read(0, bytes, bytes.length);
        }
        return bytes;
    }

    /** Puts other bytes in the place of an object's, behind everybody's back; with none it is gone. */
    public synchronized void tamper(String key, Optional<byte[]> content) throws IOException {
        forget(key);
        if (content.isPresent()) {
            objects.put(key, ObjectBytes.of(content.get(), directory));
        }
    }

    /** From now on only this key is taken. */
    public void rotateTo(String accessKey) {
        onlyAccessKey = accessKey;
    }

    /** The access keys of all requests so far. */
    public List<String> accessKeys() {
        return List.copyOf(accessKeys);
    }

    @Override
    public void close() {
        stopped.countDown();
        server.stop(0);
        threads.shutdownNow();
    }

    private void handle(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        Planned next = troubles.poll();
        boolean isUnlucky = requests.incrementAndGet() * percent % 100 < percent;
        Trouble trouble = next != null ? next.trouble() : isUnlucky ? lasting : null;
        if (next != null) {
            next.met().complete(null);
        }
        if (trouble instanceof Trouble.Answer answer) {
            error(exchange, answer.status(), answer.code());
        } else if (trouble instanceof Trouble.Body answer) {
            if (!answer.header().isEmpty()) {
                exchange.getResponseHeaders().set(answer.header(), answer.value());
            }
            answer(exchange, answer.status(), answer.body());
        } else if (trouble instanceof Trouble.Stall) {
            await();
            exchange.close();
        } else if (trouble instanceof Trouble.Freeze) {
            begin(exchange);
            await();
            exchange.close();
        } else if (trouble instanceof Trouble.Whole) {
            begin(exchange, 200, 1_000_000_000);
            await();
            exchange.close();
        } else if (trouble instanceof Trouble.Reset) {
            begin(exchange);
            exchange.close();
        } else {
            Optional<String> refusal = refusal(exchange, body);
            if (refusal.isPresent()) {
                error(exchange, refusal.get().equals("InvalidAccessKeyId") ? 403 : 400, refusal.get());
            } else {
                serve(exchange, body);
            }
        }
    }

    private static void begin(HttpExchange exchange) throws IOException {
        begin(exchange, 206, 1_000_000);
    }

    private static void begin(HttpExchange exchange, int status, long length) throws IOException {
        exchange.sendResponseHeaders(status, length);
        exchange.getResponseBody().write(new byte[1000]);
        exchange.getResponseBody().flush();
    }

    private void await() {
        try {
            stopped.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Optional<String> refusal(HttpExchange exchange, byte[] body) {
        Matcher credential =
                ACCESS_KEY.matcher(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
        String accessKey = credential.find() ? credential.group(1) : "";
        accessKeys.add(accessKey);
        if (onlyAccessKey != null && !onlyAccessKey.equals(accessKey)) {
            return Optional.of("InvalidAccessKeyId");
        }
        boolean bulkDelete =
                "POST".equals(exchange.getRequestMethod()) && "delete".equals(query(exchange, "delete", "x"));
        for (Map.Entry<String, List<String>> header :
                exchange.getRequestHeaders().entrySet()) {
            String name = header.getKey().toLowerCase(java.util.Locale.ROOT);
            String value = header.getValue().get(0);
            boolean overlooked = lenient && bulkDelete && name.startsWith("x-amz-");
            boolean unknown = name.startsWith("x-amz-checksum")
                    || name.startsWith("x-amz-sdk-checksum")
                    || name.equals("x-amz-trailer")
                    || value.startsWith("STREAMING-")
                    || value.contains("aws-chunked");
            if (unknown && !overlooked) {
                return Optional.of("InvalidArgument");
            }
        }
        if (bulkDelete && !md5(body).equals(exchange.getRequestHeaders().getFirst("Content-MD5"))) {
            return Optional.of("InvalidRequest");
        }
        return exchange.getRequestURI().getPath().startsWith("/" + BUCKET)
                ? Optional.<String>empty()
                : Optional.of("InvalidBucketName");
    }

    private void serve(HttpExchange exchange, byte[] body) throws IOException {
        String path = exchange.getRequestURI().getPath();
        String key = path.length() > BUCKET.length() + 2 ? path.substring(BUCKET.length() + 2) : "";
        if (exchange.getRequestMethod().equals("GET")) {
            get(exchange, key);
        } else if (exchange.getRequestMethod().equals("PUT")) {
            // The lock is not held while the bytes are written.
            put(exchange, key, new Part(tag(body), ObjectBytes.of(body, directory)));
        } else {
            change(exchange, key, body);
        }
    }

    private synchronized void put(HttpExchange exchange, String key, Part written) throws IOException {
        String uploadId = query(exchange, "uploadId", "");
        if (uploadId.isEmpty()) {
            note(exchange);
            keep(key, written.bytes());
        } else if (uploads.containsKey(uploadId)) {
            Part before = uploads.get(uploadId).put(Integer.parseInt(query(exchange, "partNumber", "")), written);
            drop(before == null ? List.of() : List.of(before));
        } else {
            drop(List.of(written));
            error(exchange, 404, "NoSuchUpload");
            return;
        }
        exchange.getResponseHeaders().set("ETag", written.tag());
        answer(exchange, 200, "");
    }

    private static void drop(Collection<Part> parts) throws IOException {
        for (Part part : parts) {
            part.bytes().drop();
        }
    }

    private void keep(String key, ObjectBytes bytes) throws IOException {
        ObjectBytes before = objects.put(key, bytes);
        if (before != null) {
            before.drop();
        }
    }

    private synchronized void change(HttpExchange exchange, String key, byte[] body) throws IOException {
        String uploadId = query(exchange, "uploadId", "");
        switch (exchange.getRequestMethod()) {
            case "HEAD" -> head(exchange, key);
            case "DELETE" -> {
                if (uploadId.isEmpty()) {
                    forget(key);
                } else if (uploads.containsKey(uploadId)) {
                    drop(uploads.remove(uploadId).values());
                } else {
                    error(exchange, 404, "NoSuchUpload");
                    return;
                }
                answer(exchange, 204, null);
            }
            case "POST" -> post(exchange, key, uploadId, new String(body, StandardCharsets.UTF_8));
            default -> error(exchange, 405, "MethodNotAllowed");
        }
    }

    /** The lock is not held while the bytes are sent. */
    private void get(HttpExchange exchange, String key) throws IOException {
        if (key.isEmpty()) {
            synchronized (this) {
                list(exchange);
            }
            return;
        }
        ObjectBytes object;
        synchronized (this) {
            object = objects.get(key);
        }
        if (object == null) {
            error(exchange, 404, "NoSuchKey");
            return;
        }
        Matcher range =
                RANGE.matcher(String.valueOf(exchange.getRequestHeaders().getFirst("Range")));
        long from = range.matches() ? Long.parseLong(range.group(1)) : 0;
        if (from >= object.length()) {
            error(exchange, 416, "InvalidRange");
            return;
        }
        long end = range.matches() ? Math.min(object.length(), Long.parseLong(range.group(2)) + 1) : object.length();
        exchange.getResponseHeaders().set("Content-Range", "bytes " + from + "-" + (end - 1) + "/" + object.length());
        try (ObjectBytes.Reader reader = object.open()) {
            send(exchange, reader, from, end);
        }
    }

    private void send(HttpExchange exchange, ObjectBytes.Reader reader, long from, long end) throws IOException {
        long beganNs = System.nanoTime();
        long startNs = beganNs + TimeUnit.MILLISECONDS.toNanos(firstByteMs);
        waitUntil(startNs);
        exchange.sendResponseHeaders(206, end - from);
        long rate = bytesPerSecond;
        byte[] bytes = new byte[(int) Math.min(PIECE_BYTES, end - from)];
        for (long at = from; at < end; at += bytes.length) {
            int piece = (int) Math.min(bytes.length, end - at);
            reader.read(at, bytes, piece);
            exchange.getResponseBody().write(bytes, 0, piece);
            if (rate > 0) {
                waitUntil(startNs + (at + piece - from) * 1_000_000_000L / rate);
            }
        }
        exchange.close();
        bodyNs.addAndGet(System.nanoTime() - beganNs);
    }

    private static void waitUntil(long atNs) {
        for (long leftNs = atNs - System.nanoTime(); leftNs > 0; leftNs = atNs - System.nanoTime()) {
            LockSupport.parkNanos(leftNs);
        }
    }

    private void forget(String key) throws IOException {
        ObjectBytes gone = objects.remove(key);
        if (gone != null) {
            gone.drop();
        }
    }

    private void head(HttpExchange exchange, String key) throws IOException {
        ObjectBytes object = objects.get(key);
        if (object != null) {
            exchange.getResponseHeaders().set("Content-Length", Long.toString(object.length()));
            exchange.getResponseHeaders().set("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT");
        }
        exchange.sendResponseHeaders(object == null ? 404 : 200, -1);
        exchange.close();
    }

    private void list(HttpExchange exchange) throws IOException {
        String prefix = query(exchange, "prefix", "");
        StringBuilder xml = new StringBuilder();
        if ("uploads".equals(query(exchange, "uploads", "x"))) {
            uploads.keySet().stream()
                    .filter(id -> id.substring(id.indexOf('-') + 1).startsWith(prefix))
                    .forEach(id -> xml.append("<Upload><Key>")
                            .append(id.substring(id.indexOf('-') + 1))
                            .append("</Key><UploadId>")
                            .append(id)
                            .append("</UploadId><Initiated>2026-01-01T00:00:00Z</Initiated></Upload>"));
            answer(exchange, 200, "<ListMultipartUploadsResult>" + xml + "</ListMultipartUploadsResult>");
            return;
        }
        int max = Integer.parseInt(query(exchange, "max-keys", "1000"));
        String after = query(exchange, "continuation-token", "");
        List<String> found = objects.keySet().stream()
                .filter(key -> key.startsWith(prefix) && key.compareTo(after) > 0)
                .limit(max + 1L)
                .toList();
        for (String key : found.subList(0, Math.min(max, found.size()))) {
            xml.append("<Contents><Key>")
                    .append(key)
                    .append("</Key><Size>")
                    .append(objects.get(key).length())
                    .append("</Size><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>");
        }
        String more = found.size() > max
                ? "<IsTruncated>true</IsTruncated><NextContinuationToken>" + found.get(max - 1)
                        + "</NextContinuationToken>"
                : "<IsTruncated>false</IsTruncated>";
        answer(exchange, 200, "<ListBucketResult>" + more + xml + "</ListBucketResult>");
    }

    private void post(HttpExchange exchange, String key, String uploadId, String body) throws IOException {
        if ("uploads".equals(query(exchange, "uploads", "x"))) {
            note(exchange);
            String id = ++uploadNumber + "-" + key;
            uploads.put(id, new TreeMap<>());
            answer(
                    exchange,
                    200,
                    "<InitiateMultipartUploadResult><UploadId>" + id + "</UploadId></InitiateMultipartUploadResult>");
        } else if (!uploadId.isEmpty()) {
            complete(exchange, key, uploadId, body);
        } else {
            Matcher keys = KEY.matcher(body);
            while (keys.find()) {
                forget(keys.group(1));
            }
            answer(exchange, 200, "<DeleteResult></DeleteResult>");
        }
    }

    private void complete(HttpExchange exchange, String key, String uploadId, String body) throws IOException {
        TreeMap<Integer, Part> parts = uploads.get(uploadId);
        if (parts == null) {
            error(exchange, 404, "NoSuchUpload");
            return;
        }
        List<ObjectBytes> joined = new ArrayList<>();
        Matcher numbers = PART.matcher(body);
        Matcher tags = TAG.matcher(body);
        while (numbers.find() && tags.find()) {
            Part part = parts.get(Integer.parseInt(numbers.group(1)));
            // No digest of the content, as with keys of a key service: it says nothing to anybody but the store.
            if (!tags.group(1).replace("&quot;", "\"").equals(part.tag())) {
                error(exchange, 400, "InvalidPart");
                return;
            }
            joined.add(part.bytes());
        }
        uploads.remove(uploadId);
        keep(key, new ObjectBytes.Joined(joined));
        answer(exchange, 200, "<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>");
    }

    /** The value of a parameter; its own name if it has none; {@code otherwise} if it isn't there. */
    private static String query(HttpExchange exchange, String name, String otherwise) {
        String query = exchange.getRequestURI().getRawQuery();
        for (String pair : query == null ? new String[0] : query.split("&")) {
            if (pair.equals(name) || pair.equals(name + "=")) {
                return name;
            }
            if (pair.startsWith(name + "=")) {
                return URLDecoder.decode(pair.substring(name.length() + 1), StandardCharsets.UTF_8);
            }
        }
        return otherwise;
    }

    private static void error(HttpExchange exchange, int status, String code) throws IOException {
        answer(exchange, status, "<Error><Code>" + code + "</Code><Message>on order</Message></Error>");
    }

    private static void answer(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body == null ? new byte[0] : body.getBytes(StandardCharsets.UTF_8);
        boolean empty = body == null || exchange.getRequestMethod().equals("HEAD");
        exchange.sendResponseHeaders(status, empty || bytes.length == 0 ? -1 : bytes.length);
        if (!empty && bytes.length > 0) {
            exchange.getResponseBody().write(bytes);
        }
        exchange.close();
    }

    private static String tag(byte[] body) {
        return "\"" + md5(body) + "-of-its-own\"";
    }

    private static String md5(byte[] body) {
        try {
            return Base64.getEncoder()
                    .encodeToString(MessageDigest.getInstance("MD5").digest(body));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }
}
