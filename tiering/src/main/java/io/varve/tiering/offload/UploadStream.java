package io.varve.tiering.offload;

import io.varve.tiering.core.ObjectBuilder;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.object.StoreException;
import io.varve.tiering.object.StoreFailures;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/**
 * An object on its way into the store: a single PUT if it fits into one part, else a multipart upload that sends parts while the next is
 * filled. Used by one thread, which waits for the store here.
 */
final class UploadStream implements ObjectBuilder.Sink<IOException> {

    private final ObjectStore store;
    private final String key;
    private final PartBuffers buffers;
    private final Semaphore inFlight;
    private final UploadRate rate;
    private final long bytesExpected;
    private final List<CompletableFuture<ObjectStore.Part>> parts = new ArrayList<>();

    private ByteBuffer filling;
    private String uploadId;
    private boolean mayHaveMade;

    /** @param bytesExpected of the object, nearly; {@link Long#MAX_VALUE} if nobody knows */
    UploadStream(
            ObjectStore store,
            String key,
            PartBuffers buffers,
            int partsInFlightMax,
            UploadRate rate,
            long bytesExpected) {
        this.store = store;
        this.key = key;
        this.buffers = buffers;
        this.inFlight = new Semaphore(partsInFlightMax);
        this.rate = rate;
        this.bytesExpected = bytesExpected;
    }

    @Override
    public void write(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            if (filling == null) {
                filling = takeBuffer();
            }
            int count = Math.min(filling.remaining(), bytes.remaining());
            filling.put(bytes.slice(bytes.position(), count));
            bytes.position(bytes.position() + count);
            if (!filling.hasRemaining() && !buffers.isWhole(filling)) {
                filling = buffers.grow(filling);
            } else if (!filling.hasRemaining() && (bytes.hasRemaining() || uploadId != null)) {
                sendPart();
            }
        }
    }

    /** Sends what is left; when this returns, the store says that it has the object durably. */
    void finish() throws IOException {
        if (uploadId == null) {
            finishSingle();
        } else {
            if (filling != null) {
                sendPart();
            }
            complete();
        }
    }

    /** Whether an object may be under the key, or may yet come to be there: a call that makes it was handed to the store. */
    boolean mayHaveMadeObject() {
        return mayHaveMade;
    }

    /** Drops what was begun. Never fails: what stays behind is found by its age. */
    void abort() {
        releaseFilling();
        if (uploadId != null) {
            CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new))
                    .handle((done, failure) -> store.abortUpload(key, uploadId));
        }
    }

    private void finishSingle() throws IOException {
        ByteBuffer body = filling.flip();
        filling = null;
        rate.take(body.remaining());
        make(() -> {
            CompletableFuture<Void> sent = store.put(key, body);
            sent.whenComplete((done, failure) -> buffers.give(body));
            return sent;
        });
    }

    /** @param call makes the object */
    private void make(Supplier<CompletableFuture<Void>> call) throws IOException {
        mayHaveMade = true;
        try {
            await(call.get());
        } catch (IOException e) {
            mayHaveMade = !(e.getCause() instanceof StoreException store) || store.mayHaveBeenMade();
            throw e;
        }
    }

    private void sendPart() throws IOException {
        if (uploadId == null) {
            uploadId = await(store.createUpload(key));
        }
        failEarly();
        ByteBuffer body = filling.flip();
        rate.take(body.remaining());
        acquireOne(inFlight);
        filling = null;
        CompletableFuture<ObjectStore.Part> sent = store.putPart(key, uploadId, parts.size() + 1, body);
        parts.add(sent);
        sent.whenComplete((part, failure) -> {
            buffers.give(body);
            inFlight.release();
        });
    }

    private void complete() throws IOException {
        List<ObjectStore.Part> sent = new ArrayList<>(parts.size());
        for (CompletableFuture<ObjectStore.Part> part : parts) {
            sent.add(await(part));
        }
        try {
            make(() -> store.completeUpload(key, uploadId, sent));
        } catch (UploadGoneException gone) {
            // An earlier completion may have been carried out and its answer lost. The object tells: what is there is
            // verified anyway.
            if (await(store.head(key)).isEmpty()) {
                throw gone;
            }
        }
    }

    private void failEarly() throws IOException {
        for (CompletableFuture<ObjectStore.Part> part : parts) {
            if (part.isCompletedExceptionally()) {
                await(part);
            }
        }
    }

    private ByteBuffer takeBuffer() throws IOException {
        return buffers.take(parts.isEmpty() ? bytesExpected : Long.MAX_VALUE);
    }

    private void releaseFilling() {
        if (filling != null) {
            buffers.give(filling);
            filling = null;
        }
    }

    private static void acquireOne(Semaphore semaphore) throws IOException {
        try {
            semaphore.acquire();
        } catch (InterruptedException e) {
            throw interrupted();
        }
    }

    private static <T> T await(CompletableFuture<T> answer) throws IOException {
        try {
            return answer.get();
        } catch (ExecutionException e) {
            StoreException trouble = StoreFailures.of(e);
            throw trouble.kind() == StoreException.Kind.UPLOAD_GONE
                    ? new UploadGoneException(trouble)
                    : new IOException(trouble.getMessage(), trouble);
        } catch (InterruptedException e) {
            throw interrupted();
        }
    }

    private static InterruptedIOException interrupted() {
        Thread.currentThread().interrupt();
        return new InterruptedIOException("the offloader is closing");
    }

    private static final class UploadGoneException extends IOException {

        private static final long serialVersionUID = 1L;

        UploadGoneException(StoreException cause) {
            super(cause.getMessage(), cause);
        }
    }
}
