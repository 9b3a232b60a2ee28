package io.varve.tiering.backup;

import static io.varve.tiering.object.StoreFailures.await;

import io.varve.tiering.object.ObjectStore;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * An object that is written as it comes, in the memory of one part: a single PUT if it isn't longer, parts one after the other if it is. One thread.
 */
final class BackupUpload extends OutputStream {

    /** Most backups are far smaller than a part. */
    private static final int FIRST_BYTES = 64 * 1024;

    private final ObjectStore store;
    private final String key;
    private final int partBytes;
    private final CRC32C crc = new CRC32C();
    private final List<ObjectStore.Part> parts = new ArrayList<>();

    /** Never used again once it was sent: a call that was given up may still read it. */
    private ByteBuffer filling;

    private String uploadId;
    private long length;

    BackupUpload(ObjectStore store, String key, int partBytes) {
        this.store = store;
        this.key = key;
        this.partBytes = partBytes;
        this.filling = ByteBuffer.allocate(Math.min(partBytes, FIRST_BYTES));
    }

    @Override
    public void write(int one) throws IOException {
        write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int count) throws IOException {
        crc.update(bytes, from, count);
        length += count;
        int at = from;
        while (at < from + count) {
            if (!filling.hasRemaining()) {
                growOrSend();
            }
            int some = Math.min(filling.remaining(), from + count - at);
            filling.put(bytes, at, some);
            at += some;
        }
    }

    /** Sends what is left; when this returns, the store says that it has the object. */
    void finish() throws IOException {
        if (uploadId == null) {
            await(store.put(key, filling.flip()));
        } else {
            sendPart();
            await(store.completeUpload(key, uploadId, parts));
        }
    }

    /** Drops what was begun. Never fails: what stays behind is found by its age. */
    void abort() {
        if (uploadId != null) {
            store.abortUpload(key, uploadId);
        }
    }

    long length() {
        return length;
    }

    long crc() {
        return crc.getValue();
    }

    private void growOrSend() throws IOException {
        if (filling.capacity() == partBytes) {
            sendPart();
        } else {
            int larger = (int) Math.min(partBytes, 2L * filling.capacity());
            filling = ByteBuffer.allocate(larger).put(filling.flip());
        }
    }

    private void sendPart() throws IOException {
        if (uploadId == null) {
            uploadId = await(store.createUpload(key));
        }
        parts.add(await(store.putPart(key, uploadId, parts.size() + 1, filling.flip())));
        filling = ByteBuffer.allocate(partBytes);
    }
}
