package io.varve.tiering.object;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;

/**
 * Keeps account of what a machine that lost its power now would still have: bytes that were forced after they were written, under names that were forced after they were given, in directories of
 * which that is true as well. All the rest may be there or not.
 */
final class CrashAccount implements StoreFiles {

    private final Set<Path> unforcedBytes = new ConcurrentSkipListSet<>();
    private final Set<Path> unforcedNames = new ConcurrentSkipListSet<>();
    private final Set<Path> shownTooEarly = new ConcurrentSkipListSet<>();

    /** Whether a file would be there, whole. */
    boolean survives(Path file) {
        return Files.isRegularFile(file)
                && !unforcedBytes.contains(file)
                && unforcedAbove(file).isEmpty();
    }

    /** Whether a file that was deleted, perhaps with directories above it, would stay so. */
    boolean staysDeleted(Path file) {
        Path above = file.getParent();
        while (!Files.isDirectory(above)) {
            above = above.getParent();
        }
        return Files.notExists(file) && !unforcedNames.contains(above);
    }

    /** The directories above a file with names that may be lost. */
    List<Path> unforcedAbove(Path file) {
        List<Path> unforced = new ArrayList<>();
        for (Path above = file.getParent(); above != null; above = above.getParent()) {
            if (unforcedNames.contains(above)) {
                unforced.add(above);
            }
        }
        return unforced;
    }

    /** What got its name before its bytes were forced: a crash right then leaves a part of it under that name. */
    Set<Path> shownTooEarly() {
        return shownTooEarly;
    }

    @Override
    public Draft create(Path file) throws IOException {
        Draft real = REAL.create(file);
        unforcedNames.add(file.getParent());
        return new Draft() {
            @Override
            public WritableByteChannel to() {
                return new WritableByteChannel() {
                    @Override
                    public int write(ByteBuffer bytes) throws IOException {
                        unforcedBytes.add(file);
                        return real.to().write(bytes);
                    }

                    @Override
                    public boolean isOpen() {
                        return real.to().isOpen();
                    }

                    @Override
                    public void close() throws IOException {
                        real.to().close();
                    }
                };
            }

            @Override
            public void force() throws IOException {
                real.force();
                unforcedBytes.remove(file);
            }

            @Override
            public void close() throws IOException {
                real.close();
            }
        };
    }

    @Override
    public void rename(Path from, Path to) throws IOException {
        REAL.rename(from, to);
        if (unforcedBytes.remove(from)) {
            unforcedBytes.add(to);
            shownTooEarly.add(to);
        }
        unforcedNames.add(from.getParent());
        unforcedNames.add(to.getParent());
    }

    @Override
    public void createDirectory(Path directory) throws IOException {
        REAL.createDirectory(directory);
        unforcedNames.add(directory.getParent());
    }

    @Override
    public boolean deleteIfExists(Path path) throws IOException {
        boolean was = REAL.deleteIfExists(path);
        if (was) {
            unforcedNames.remove(path);
            unforcedNames.add(path.getParent());
        }
        return was;
    }

    @Override
    public void forceNames(Path directory) throws IOException {
        REAL.forceNames(directory);
        unforcedNames.remove(directory);
    }
}
