package io.varve.tiering.object;

import io.varve.tiering.object.StoreException.Kind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A directory as a bucket: for one machine, or for a file system that all nodes share.
 *
 * <pre>
 *  DIR/objects/KEY                  whole objects
 *  DIR/uploads/UPLOAD/key           the key of an upload under way
 *  DIR/uploads/UPLOAD/part-NNNNN    its parts
 *  DIR/tmp/…                        being written
 * </pre>
 *
 * An object becomes visible by an atomic rename after its bytes were forced; the rename is durable once its directory was forced, and each directory above it up to DIR: whoever made one of those, here
 * or in another process, may not have come to forcing it yet. Parts and the key of an upload under way aren't forced: what a crash takes of them is an upload that is gone.
 */
public final class LocalObjectStore implements ObjectStore {

    private static final Logger log = LoggerFactory.getLogger(LocalObjectStore.class);

    private static final int PIECE_BYTES = 128 * 1024;

    /** Each lost try means that another call, here or in another process, removed a directory in just that moment. */
    private static final int PUBLISH_TRIES = 100;

    /** No call takes a day: what is older was left behind by a process that was killed. */
    private static final Duration TEMPORARY_AGE_MAX = Duration.ofDays(1);

    private final StoreFiles files;
    private final Path root;
    private final Path objects;
    private final Path uploads;
    private final Path temporary;
    private final ExecutorService executor;

    /**
     * Opens the directory; makes it if it isn't there.
     *
     * @param threads for the disk's work
     * @throws IOException if it can't be made or written
     */
    public LocalObjectStore(Path root, int threads) throws IOException {
        this(root, threads, StoreFiles.REAL);
    }

    LocalObjectStore(Path root, int threads, StoreFiles files) throws IOException {
        this.files = files;
        this.root = root;
        this.objects = root.resolve("objects");
        this.uploads = root.resolve("uploads");
        this.temporary = root.resolve("tmp");
        for (Path directory : List.of(objects, uploads, temporary)) {
            open(directory.toAbsolutePath());
        }
        dropOldTemporaries();
        AtomicInteger number = new AtomicInteger();
        this.executor = Executors.newFixedThreadPool(threads, task -> {
            Thread thread = new Thread(task, "varve-local-store-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
    }

    /** Whether a directory has been a store before: opening it would make nothing anew. */
    public static boolean isThere(Path root) {
        return Files.isDirectory(root.resolve("objects"));
    }

    @Override
    public CompletableFuture<Void> put(String key, ByteBuffer body) {
        Path target = objects.resolve(ObjectStore.checkKey(key));
        ByteBuffer bytes = body.duplicate();
        return run("PUT " + key, given -> {
            Path written = writeTemporary(bytes);
            orDiscard(written, () -> unlessGivenUp(given, written));
            publish(written, target);
            return null;
        });
    }

    @Override
    public CompletableFuture<String> createUpload(String key) {
        ObjectStore.checkKey(key);
        return run("CREATE_UPLOAD " + key, () -> {
            String uploadId = UUID.randomUUID().toString();
            Path directory = uploads.resolve(uploadId);
            Files.createDirectory(directory);
            Files.writeString(directory.resolve("key"), key);
            return uploadId;
        });
    }

    @Override
    public CompletableFuture<Part> putPart(String key, String uploadId, int number, ByteBuffer body) {
        ByteBuffer bytes = body.duplicate();
        return run("PUT_PART " + key, given -> {
            Path directory = upload(key, uploadId);
            Path written = writeTemporary(bytes);
            orDiscard(written, () -> renamed(unlessGivenUp(given, written), directory.resolve(partName(number))));
            return new Part(number, uploadId + "-" + number, "");
        });
    }

    @Override
    public CompletableFuture<Void> completeUpload(String key, String uploadId, List<Part> parts) {
        Path target = objects.resolve(ObjectStore.checkKey(key));
        return run("COMPLETE_UPLOAD " + key, () -> {
            Path directory = upload(key, uploadId);
            Path joined = temporary.resolve(UUID.randomUUID().toString());
            orDiscard(joined, () -> join(directory, parts, joined));
            publish(joined, target);
            deleteTree(directory);
            return null;
        });
    }

    @Override
    public CompletableFuture<Void> abortUpload(String key, String uploadId) {
        return run("ABORT_UPLOAD " + key, () -> {
            deleteTree(uploads.resolve(ObjectStore.checkKey(uploadId)));
            return null;
        });
    }

    @Override
    public CompletableFuture<Page<Upload>> uploads(String prefix, Optional<String> cursor) {
        return run("LIST_UPLOADS " + prefix, () -> {
            List<Upload> found = new ArrayList<>();
            try (Stream<Path> directories = Files.list(uploads)) {
                for (Path directory : (Iterable<Path>) directories.sorted()::iterator) {
                    addUpload(found, directory, prefix);
                }
            }
            return new Page<>(found, Optional.empty());
        });
    }

    @Override
    public CompletableFuture<ByteBuffer> get(String key, long from, int length) {
        Path file = objects.resolve(ObjectStore.checkKey(key));
        return run("GET " + key, () -> {
            ByteBuffer to = ByteBuffer.allocate(length);
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
                while (to.hasRemaining()) {
                    if (channel.read(to, from + to.position()) < 0) {
                        throw new StoreException(Kind.TRUNCATED, "GET " + key + " ends at " + (from + to.position()));
                    }
                }
            }
            return to.flip();
        });
    }

    /** Piece by piece: a read that hangs in the file system must not hold the target. */
    @Override
    public CompletableFuture<Void> fill(String key, long from, RangeTarget into) {
        Path file = objects.resolve(ObjectStore.checkKey(key));
        RangeTarget.Attempt attempt = into.begin();
        return run("GET " + key, () -> {
            ByteBuffer piece = ByteBuffer.allocate(Math.min(PIECE_BYTES, into.length()));
            long at = from;
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
                while (attempt.room() > 0) {
                    int read = channel.read(piece.clear().limit(Math.min(piece.capacity(), attempt.room())), at);
                    if (read < 0) {
                        throw new StoreException(Kind.TRUNCATED, "GET " + key + " ends at " + at);
                    }
                    attempt.put(piece.flip());
                    at += read;
                }
            }
            return null;
        });
    }

    @Override
    public CompletableFuture<Optional<Stat>> head(String key) {
        Path file = objects.resolve(ObjectStore.checkKey(key));
        return run("HEAD " + key, () -> {
            try {
                BasicFileAttributes about = Files.readAttributes(file, BasicFileAttributes.class);
                return about.isRegularFile()
                        ? Optional.of(new Stat(
                                key, about.size(), about.lastModifiedTime().toMillis()))
                        : Optional.empty();
            } catch (NoSuchFileException none) {
                requireRoot("HEAD " + key);
                return Optional.empty();
            }
        });
    }

    @Override
    public CompletableFuture<Page<Stat>> list(String prefix, Optional<String> cursor, int max) {
        return run("LIST " + prefix, () -> {
            requireRoot("LIST " + prefix);
            TreeMap<String, Stat> found = new TreeMap<>();
            int slash = prefix.lastIndexOf('/');
            Path top = slash < 0 ? objects : objects.resolve(ObjectStore.checkKey(prefix.substring(0, slash)));
            if (Files.isDirectory(top)) {
                Files.walkFileTree(top, new Collector(found, prefix, cursor.orElse(""), max + 1));
            }
            boolean more = found.size() > max;
            if (more) {
                found.pollLastEntry();
            }
            return new Page<>(new ArrayList<>(found.values()), more ? Optional.of(found.lastKey()) : Optional.empty());
        });
    }

    @Override
    public CompletableFuture<Void> delete(String key) {
        Path file = objects.resolve(ObjectStore.checkKey(key));
        return run("DELETE " + key, () -> {
            requireRoot("DELETE " + key);
            deleteFile(file);
            return null;
        });
    }

    @Override
    public CompletableFuture<Map<String, String>> deleteAll(List<String> keys) {
        List<Path> files = keys.stream()
                .map(key -> objects.resolve(ObjectStore.checkKey(key)))
                .toList();
        return run("BULK_DELETE of " + keys.size(), () -> {
            requireRoot("BULK_DELETE");
            Map<String, String> failed = new LinkedHashMap<>();
            for (int i = 0; i < files.size(); i++) {
                try {
                    deleteFile(files.get(i));
                } catch (IOException e) {
                    failed.put(keys.get(i), e.toString());
                }
            }
            return failed;
        });
    }

    @Override
    public String describe() {
        return "file:" + root;
    }

    @Override
    public void close() {
        executor.shutdown();
    }

    private interface Work<T> {
        T run() throws IOException;
    }

    private interface GivenWork<T> {
        T run(CompletableFuture<T> given) throws IOException;
    }

    /** A write that hung in the file system until it was given up may have read bytes that are another object's by now. */
    private static Path unlessGivenUp(CompletableFuture<?> given, Path written) throws IOException {
        if (given.isDone()) {
            throw new IOException("given up meanwhile");
        }
        return written;
    }

    private <T> CompletableFuture<T> run(String what, Work<T> work) {
        return run(what, given -> work.run());
    }

    /** @param work is handed what it was asked with: done before its end if it was given up */
    private <T> CompletableFuture<T> run(String what, GivenWork<T> work) {
        CompletableFuture<T> done = new CompletableFuture<>();
        try {
            executor.execute(() -> {
                if (done.isDone()) {
                    return; // It was given up while it waited for its turn.
                }
                try {
                    done.complete(work.run(done));
                } catch (StoreException e) {
                    done.completeExceptionally(e);
                } catch (IOException | RuntimeException e) {
                    done.completeExceptionally(new StoreException(kindOf(e), what + ": " + e, e));
                } catch (Error broken) {
                    done.completeExceptionally(broken);
                }
            });
        } catch (RejectedExecutionException closed) {
            done.completeExceptionally(new StoreException(Kind.CLOSED, what + ": the store is closed"));
        }
        return done;
    }

    private Kind kindOf(Exception e) {
        if (e instanceof NoSuchFileException) {
            return Files.isDirectory(objects) ? Kind.NOT_FOUND : Kind.NO_BUCKET;
        }
        return e instanceof AccessDeniedException ? Kind.FORBIDDEN : Kind.DISK;
    }

    /** A directory that was unmounted must not look like an empty bucket. */
    private void requireRoot(String what) {
        if (!Files.isDirectory(objects)) {
            throw new StoreException(Kind.NO_BUCKET, what + ": " + objects + " is not there");
        }
    }

    private Path writeTemporary(ByteBuffer bytes) throws IOException {
        Path file = temporary.resolve(UUID.randomUUID().toString());
        return orDiscard(file, () -> {
            try (StoreFiles.Draft draft = files.create(file)) {
                while (bytes.hasRemaining()) {
                    draft.to().write(bytes);
                }
                draft.force();
            }
            return file;
        });
    }

    private Path join(Path directory, List<Part> parts, Path joined) throws IOException {
        try (StoreFiles.Draft draft = files.create(joined)) {
            for (Part part : parts) {
                appendFile(directory.resolve(partName(part.number())), draft.to());
            }
            draft.force();
        }
        return joined;
    }

    /** On a disk that is full, what failed must not take the rest of the room; each try would leave another file. */
    private static Path orDiscard(Path file, Work<Path> work) throws IOException {
        try {
            return work.run();
        } catch (IOException | RuntimeException e) {
            try {
                Files.deleteIfExists(file);
            } catch (IOException notDeleted) {
                e.addSuppressed(notDeleted);
            }
            throw e;
        }
    }

    /** Tidying is no reason not to open: who may only read has nothing to tidy. */
    private void dropOldTemporaries() {
        FileTime before = FileTime.from(Instant.now().minus(TEMPORARY_AGE_MAX));
        try (Stream<Path> files = Files.list(temporary)) {
            files.forEach(file -> dropIfOlder(file, before));
        } catch (IOException | UncheckedIOException e) {
            log.warn("event=old_files_stay directory={} reason=\"{}\"", temporary, e.toString());
        }
    }

    private static void dropIfOlder(Path file, FileTime before) {
        try {
            if (Files.getLastModifiedTime(file).compareTo(before) < 0) {
                Files.deleteIfExists(file);
            }
        } catch (NoSuchFileException published) {
            // Another process's, which went on.
            return;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void publish(Path written, Path target) throws IOException {
        orDiscard(written, () -> move(written, target));
        Path directory = target.getParent();
        while (!directory.equals(root)) {
            forceNearest(directory);
            directory = directory.getParent();
        }
        files.forceNames(root);
    }

    private Path renamed(Path from, Path to) throws IOException {
        files.rename(from, to);
        return to;
    }

    private Path move(Path written, Path target) throws IOException {
        for (int tries = 1; ; tries++) {
            try {
                createBelowObjects(target.getParent());
                return renamed(written, target);
            } catch (NoSuchFileException | FileAlreadyExistsException e) {
                // Another call deleted the directory's last other object, and the empty directory with it: before
                // the move, or between the two looks of create, which then says "it exists".
                if (tries == PUBLISH_TRIES) {
                    throw e;
                }
            }
        }
    }

    /** Not the directory of all objects itself: if it isn't there it was taken away, or unmounted. */
    private void createBelowObjects(Path directory) throws IOException {
        if (Files.isDirectory(directory)) {
            return;
        }
        requireRoot("PUT");
        createBelowObjects(directory.getParent());
        create(directory);
    }

    private void open(Path directory) throws IOException {
        if (Files.isDirectory(directory)) {
            return;
        }
        open(directory.getParent());
        create(directory);
        files.forceNames(directory.getParent());
    }

    private void create(Path directory) throws IOException {
        try {
            files.createDirectory(directory);
        } catch (FileAlreadyExistsException made) {
            if (!Files.isDirectory(directory)) {
                throw made;
            }
        }
    }

    private void deleteFile(Path file) throws IOException {
        if (!files.deleteIfExists(file)) {
            return;
        }
        // A bucket has no empty directories: a deleted topic leaves nothing.
        Path parent = file.getParent();
        while (!parent.equals(objects) && removeIfEmpty(parent)) {
            parent = parent.getParent();
        }
        forceNearest(parent);
    }

    private boolean removeIfEmpty(Path directory) throws IOException {
        try {
            files.deleteIfExists(directory);
            return true;
        } catch (DirectoryNotEmptyException used) {
            return false;
        }
    }

    /** Forces a directory, or the nearest above it if others removed it meanwhile: what it held is gone with its name in there. */
    private void forceNearest(Path directory) throws IOException {
        for (Path at = directory; ; at = at.getParent()) {
            try {
                files.forceNames(at);
                return;
            } catch (NoSuchFileException removed) {
                if (at.equals(objects)) {
                    throw removed;
                }
            }
        }
    }

    private Path upload(String key, String uploadId) throws IOException {
        Path directory = uploads.resolve(ObjectStore.checkKey(uploadId));
        Path name = directory.resolve("key");
        if (!Files.exists(name) || !Files.readString(name).equals(key)) {
            throw new StoreException(Kind.UPLOAD_GONE, "no upload " + uploadId + " of " + key);
        }
        return directory;
    }

    private static String partName(int number) {
        return String.format("part-%05d", number);
    }

    private static void appendFile(Path from, WritableByteChannel to) throws IOException {
        try (FileChannel part = FileChannel.open(from, StandardOpenOption.READ)) {
            long size = part.size();
            for (long at = 0; at < size; ) {
                at += part.transferTo(at, size - at, to);
            }
        }
    }

    private static void addUpload(List<Upload> found, Path directory, String prefix) throws IOException {
        Path name = directory.resolve("key");
        if (!Files.exists(name)) {
            return;
        }
        String key = Files.readString(name);
        if (key.startsWith(prefix)) {
            long initiatedMs = Files.getLastModifiedTime(name).toMillis();
            found.add(new Upload(key, directory.getFileName().toString(), initiatedMs));
        }
    }

    private static void deleteTree(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : (Iterable<Path>) files.sorted(Comparator.reverseOrder())::iterator) {
                Files.deleteIfExists(file);
            }
        }
    }

    /** Keeps the smallest keys above a cursor. */
    private final class Collector extends SimpleFileVisitor<Path> {

        private final TreeMap<String, Stat> found;
        private final String prefix;
        private final String after;
        private final int max;

        Collector(TreeMap<String, Stat> found, String prefix, String after, int max) {
            this.found = found;
            this.prefix = prefix;
            this.after = after;
            this.max = max;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes about) {
            String key = objects.relativize(file).toString();
            if (key.startsWith(prefix) && key.compareTo(after) > 0) {
                found.put(
                        key,
                        new Stat(key, about.size(), about.lastModifiedTime().toMillis()));
                if (found.size() > max) {
                    found.pollLastEntry();
                }
            }
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
            if (e instanceof NoSuchFileException) {
                return FileVisitResult.CONTINUE;
            }
            throw e;
        }
    }
}
