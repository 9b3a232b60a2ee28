package io.varve.tiering.backup;

import static io.varve.tiering.object.StoreFailures.await;

import io.varve.tiering.api.MetadataBackups;
import io.varve.tiering.core.BackupKey;
import io.varve.tiering.object.ObjectStore;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32C;

/** The backups of one cluster. Keeps nothing in memory between calls. */
public final class BucketBackups implements MetadataBackups {

    private static final int PAGE = 1000;

    private final ObjectStore store;
    private final String clusterId;
    private final int partBytes;

    /** @param partBytes what is held in memory of a backup that is written or read */
    public BucketBackups(ObjectStore store, String clusterId, int partBytes) {
        this.store = store;
        this.clusterId = clusterId;
        this.partBytes = partBytes;
    }

    @Override
    public List<Backup> list() throws IOException {
        List<Backup> found = new ArrayList<>();
        Optional<String> cursor = Optional.empty();
        do {
            ObjectStore.Page<ObjectStore.Stat> page = await(store.list(BackupKey.prefix(clusterId), cursor, PAGE));
            for (ObjectStore.Stat object : page.items()) {
                BackupKey.parse(clusterId, object.key())
                        .ifPresent(said ->
                                found.add(new Backup(object.key(), said.takenMs(), said.version(), object.length())));
            }
            cursor = page.cursor();
        } while (cursor.isPresent());
        return found;
    }

    @Override
    public Backup save(long takenMs, long version, Body body) throws IOException {
        String key = new BackupKey(clusterId, takenMs, version).key();
        BackupUpload upload = new BackupUpload(store, key, partBytes);
        try {
            body.writeTo(upload);
            upload.finish();
        } catch (IOException | RuntimeException | Error e) {
            upload.abort();
            throw e;
        }
        // What the store said when it took the bytes proves nothing (I-10).
        long crc = read(key, upload.length(), OutputStream.nullOutputStream());
        if (crc != upload.crc()) {
            throw new IOException(key + " reads back as something else than was written");
        }
        return new Backup(key, takenMs, version, upload.length());
    }

    @Override
    public int prune(int keep) throws IOException {
        List<Backup> all = list();
        int old = Math.max(0, all.size() - keep);
        for (Backup backup : all.subList(0, old)) {
            await(store.delete(backup.key()));
        }
        return old;
    }

    @Override
    public void load(Backup backup, Path file) throws IOException {
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file))) {
            read(backup.key(), backup.bytes(), out);
        }
    }

    /** @return the checksum of what was read */
    private long read(String key, long length, OutputStream out) throws IOException {
        CRC32C crc = new CRC32C();
        for (long at = 0; at < length; at += partBytes) {
            ByteBuffer some = await(store.get(key, at, (int) Math.min(partBytes, length - at)));
            crc.update(some.duplicate());
            out.write(some.array(), some.arrayOffset() + some.position(), some.remaining());
        }
        return crc.getValue();
    }
}
