package io.varve.metadata.testing;

import io.varve.base.TopicId;
import io.varve.metadata.api.MetadataDelta;
import io.varve.metadata.api.MetadataException;
import io.varve.metadata.api.MetadataException.Reason;
import io.varve.metadata.api.MetadataListener;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.api.NodeSession;
import io.varve.metadata.client.CommandingClient;
import io.varve.metadata.core.Deltas;
import io.varve.metadata.core.MetadataImage;
import io.varve.metadata.core.ProtoModel;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BrokerInfo;
import io.varve.protocol.meta.CommandReply;
import io.varve.protocol.meta.MetadataCommand;
import io.varve.protocol.meta.RegisterBookieCommand;
import io.varve.protocol.meta.RegisterBrokerCommand;
import io.varve.protocol.meta.SetBookieStateCommand;
import io.varve.protocol.meta.SetBrokerStateCommand;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Predicate;

/** One process's client of an {@link InMemoryMetadata}. */
final class InMemoryClient extends CommandingClient {

    private final InMemoryMetadata service;
    private final Executor executor;
    private final List<MetadataListener> listeners = new CopyOnWriteArrayList<>();
    private final List<InMemorySession> sessions = new CopyOnWriteArrayList<>();
    private final Queue<Change> untold = new ArrayDeque<>();
    private volatile MetadataImage view;
    private boolean telling;
    private volatile boolean closed;

    InMemoryClient(InMemoryMetadata service, Executor executor, MetadataImage view) {
        this.service = service;
        this.executor = executor;
        this.view = view;
    }

    /** A change, in order: first all clients see it, and then {@link #tell} tells the listeners, who may command in turn. */
    void advance(MetadataImage after, MetadataDelta delta) {
        executor.execute(() -> {
            untold.add(new Change(view, after, delta));
            view = after;
        });
    }

    void tell() {
        executor.execute(() -> {
            if (telling) {
                return;
            }
            telling = true;
            for (Change next = untold.poll(); next != null; next = untold.poll()) {
                Change change = next;
                if (!closed) {
                    listeners.forEach(l -> l.onChange(change.before, change.after, change.delta));
                    sessions.forEach(session -> session.look(change.after));
                }
            }
            telling = false;
        });
    }

    private record Change(MetadataImage before, MetadataImage after, MetadataDelta delta) {}

    @Override
    public MetadataView view() {
        return view;
    }

    @Override
    public void subscribe(MetadataListener listener) {
        executor.execute(() -> {
            MetadataView now = view;
            listeners.add(listener);
            listener.onChange(MetadataImage.EMPTY, now, Deltas.everything(MetadataImage.EMPTY, now));
        });
    }

    @Override
    public void unsubscribe(MetadataListener listener) {
        listeners.remove(listener);
    }

    @Override
    public CompletableFuture<MetadataView> linearizable() {
        CompletableFuture<MetadataView> answer = new CompletableFuture<>();
        if (closed || !service.isReachable()) {
            answer.completeExceptionally(new MetadataException(Reason.UNAVAILABLE, "No quorum"));
        } else {
            executor.execute(() -> answer.complete(view));
        }
        return answer;
    }

    @Override
    public CompletableFuture<NodeSession> registerBroker(BrokerInfo broker) {
        RegisterBrokerCommand.Builder body = RegisterBrokerCommand.newBuilder().setBroker(ProtoModel.toProto(broker));
        return submit(
                command().setRegisterBroker(body),
                reply -> open(
                        view -> view.brokers().stream()
                                .anyMatch(b -> b.id() == broker.id()
                                        && b.incarnation() == broker.incarnation()
                                        && b.state() != BrokerInfo.State.GONE),
                        (state, free, total) -> command()
                                .setSetBrokerState(SetBrokerStateCommand.newBuilder()
                                        .setId(broker.id())
                                        .setIncarnation(broker.incarnation())
                                        .setState(ProtoModel.toProto((BrokerInfo.State) state))),
                        BrokerInfo.State.GONE));
    }

    @Override
    public CompletableFuture<NodeSession> registerBookie(BookieRegistration bookie) {
        RegisterBookieCommand.Builder body =
                RegisterBookieCommand.newBuilder().setBookie(ProtoModel.toProto(bookie.toBookie()));
        return submit(
                command().setRegisterBookie(body),
                reply -> open(
                        view -> view.bookie(bookie.id())
                                .filter(b -> b.sessionId() == bookie.sessionId() && b.state() != BookieInfo.State.GONE)
                                .isPresent(),
                        (state, free, total) -> command()
                                .setSetBookieState(SetBookieStateCommand.newBuilder()
                                        .setId(bookie.id().value())
                                        .setSessionId(bookie.sessionId())
                                        .setState(ProtoModel.toProto((BookieInfo.State) state))
                                        .setFreeBytes(free)
                                        .setTotalBytes(total)),
                        BookieInfo.State.GONE));
    }

    private NodeSession open(Predicate<MetadataView> lives, StateChange change, Enum<?> gone) {
        InMemorySession session = new InMemorySession(lives, change, gone);
        sessions.add(session);
        return session;
    }

    @Override
    protected CompletableFuture<CommandReply> submit(MetadataCommand.Builder command) {
        CompletableFuture<CommandReply> answer = new CompletableFuture<>();
        if (closed) {
            answer.completeExceptionally(new MetadataException(Reason.UNAVAILABLE, "The client is closed"));
            return answer;
        }
        // The change was handed to the executor before this answer is: it is in the view when the answer arrives.
        service.submit(command)
                .whenComplete((reply, trouble) -> executor.execute(() -> {
                    MetadataException refusal = trouble instanceof MetadataException known
                            ? known
                            : rejectionIn(reply).orElse(null);
                    if (refusal != null) {
                        answer.completeExceptionally(refusal);
                    } else {
                        answer.complete(reply);
                    }
                }));
        return answer;
    }

    @Override
    protected TopicId newTopicId() {
        return service.newTopicId();
    }

    @Override
    public void close() {
        sessions.forEach(InMemorySession::close);
        closed = true;
        service.forget(this);
    }

    /** The command that changes what a node can be used for. */
    private interface StateChange {
        MetadataCommand.Builder to(Enum<?> state, long freeBytes, long totalBytes);
    }

    private final class InMemorySession implements NodeSession {
        private final Predicate<MetadataView> lives;
        private final StateChange change;
        private final Enum<?> gone;
        private final CompletableFuture<String> lost = new CompletableFuture<>();
        private volatile boolean ended;

        InMemorySession(Predicate<MetadataView> lives, StateChange change, Enum<?> gone) {
            this.lives = lives;
            this.change = change;
            this.gone = gone;
        }

        void look(MetadataView now) {
            if (!ended && !lives.test(now)) {
                sessions.remove(this);
                lost.complete("the session was declared dead");
            }
        }

        @Override
        public CompletableFuture<String> lost() {
            return lost;
        }

        @Override
        public boolean confirmed() {
            return !ended && !lost.isDone() && service.isReachable();
        }

        @Override
        public CompletableFuture<Void> setBrokerState(BrokerInfo.State state) {
            return submitVoid(change.to(state, 0, 0));
        }

        @Override
        public CompletableFuture<Void> setBookieState(BookieInfo.State state, long freeBytes, long totalBytes) {
            return submitVoid(change.to(state, freeBytes, totalBytes));
        }

        @Override
        public void close() {
            if (!ended && !lost.isDone()) {
                ended = true;
                sessions.remove(this);
                submitVoid(change.to(gone, 0, 0));
            }
        }
    }
}
