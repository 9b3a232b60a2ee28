package io.varve.cli.role;

import io.varve.metadata.model.ObjectRef;
import io.varve.tiering.api.Offloader;
import io.varve.tiering.api.SealedSegmentSource;
import io.varve.tiering.client.Tiering;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** An offloader that takes its store along when it is closed. */
final class OwnedOffloader implements Offloader {

    private final Tiering tiering;
    private final Offloader offloader;

    OwnedOffloader(Tiering tiering) {
        this.tiering = tiering;
        this.offloader = tiering.newOffloader();
    }

    @Override
    public CompletableFuture<ObjectRef> offload(OffloadAttempt attempt, List<SealedSegmentSource> sources) {
        return offloader.offload(attempt, sources);
    }

    @Override
    public CompletableFuture<Void> delete(String key) {
        return offloader.delete(key);
    }

    @Override
    public Status status() {
        return offloader.status();
    }

    @Override
    public void close() {
        offloader.close();
        tiering.close();
    }
}
