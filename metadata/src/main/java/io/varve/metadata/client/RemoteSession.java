package io.varve.metadata.client;

import io.varve.metadata.api.NodeSession;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BrokerInfo;
import io.varve.protocol.meta.MetadataCommand;
import io.varve.protocol.meta.SessionProto;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;

/** One session kept alive by a {@link RemoteMetadataClient}. Safe for any thread. */
final class RemoteSession implements NodeSession {

    /** The command that changes what the node can be used for. */
    interface StateChange {
        MetadataCommand.Builder to(Enum<?> state, long freeBytes, long totalBytes);
    }

    final SessionProto proto;
    private final StateChange change;
    private final Enum<?> gone;
    private final Function<MetadataCommand.Builder, CompletableFuture<Void>> submit;
    private final Consumer<RemoteSession> onClose;
    private final BooleanSupplier confirmed;
    private final CompletableFuture<String> lost = new CompletableFuture<>();
    private volatile boolean closed;

    RemoteSession(
            SessionProto proto,
            StateChange change,
            Enum<?> gone,
            Function<MetadataCommand.Builder, CompletableFuture<Void>> submit,
            BooleanSupplier confirmed,
            Consumer<RemoteSession> onClose) {
        this.proto = proto;
        this.change = change;
        this.gone = gone;
        this.submit = submit;
        this.confirmed = confirmed;
        this.onClose = onClose;
    }

    void onDead() {
        if (!closed) {
            onClose.accept(this);
            lost.complete("the metadata service declared this session dead");
        }
    }

    @Override
    public CompletableFuture<String> lost() {
        return lost;
    }

    @Override
    public boolean confirmed() {
        return !closed && !lost.isDone() && confirmed.getAsBoolean();
    }

    @Override
    public CompletableFuture<Void> setBrokerState(BrokerInfo.State state) {
        return submit.apply(change.to(state, 0, 0));
    }

    @Override
    public CompletableFuture<Void> setBookieState(BookieInfo.State state, long freeBytes, long totalBytes) {
        return submit.apply(change.to(state, freeBytes, totalBytes));
    }

    /** Ends it, and completes when the service knows. */
    CompletableFuture<Void> end() {
        if (closed || lost.isDone()) {
            closed = true;
            return CompletableFuture.completedFuture(null);
        }
        closed = true;
        onClose.accept(this);
        return submit.apply(change.to(gone, 0, 0));
    }

    @Override
    public void close() {
        end();
    }
}
