package io.varve.metadata.client;

import com.google.protobuf.InvalidProtocolBufferException;
import io.netty.buffer.ByteBuf;
import io.varve.metadata.api.MetadataException;
import io.varve.metadata.api.MetadataException.Reason;
import io.varve.metadata.net.Methods;
import io.varve.protocol.meta.CommandReply;
import io.varve.protocol.meta.MetadataCommand;
import io.varve.protocol.meta.SubmitReply;
import io.varve.protocol.rpc.RpcConnection;
import io.varve.protocol.rpc.RpcStatus;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/**
 * A client's commands on their way to the leader, whoever that is: each has a number of its own, by which the service knows one that is sent again, and stays here until its effect is in the view or its deadline has passed. Used by the
 * client's thread alone.
 */
final class CommandQueue {

    /** Commands under way at a time; fewer than the service keeps answers. */
    private static final int COMMANDS_MAX = 512;

    /** Commands that wait for their turn: a broker that takes thousands of partitions over asks for as many things at once. */
    private static final int WAITING_MAX = 32_768;

    private final MetadataClientOptions options;
    private final LeaderLink link;
    private final ViewKeeper keeper;
    private final ClientThread thread;
    private final long clientId;
    private final NavigableMap<Long, PendingCommand> pending = new TreeMap<>();
    /** In the order in which they were asked for, which is that of their deadlines. */
    private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();

    private long nextSequence = 1;

    /** A command that has not begun, and so has no number yet. */
    private record Waiting(MetadataCommand.Builder command, long deadlineNs, CompletableFuture<CommandReply> answer) {

        void refuse(String why) {
            answer.completeExceptionally(new MetadataException(Reason.UNAVAILABLE, why));
        }
    }

    CommandQueue(MetadataClientOptions options, LeaderLink link, ViewKeeper keeper, ClientThread thread) {
        this.options = options;
        this.link = link;
        this.keeper = keeper;
        this.thread = thread;
        this.clientId = options.randomness().nextLong() | 1;
    }

    /** Has a command decided; {@code answer} completes with what came of it, once that is in the view, and fails with {@link MetadataException} alone. */
    void add(MetadataCommand.Builder command, long deadlineNs, CompletableFuture<CommandReply> answer) {
        Waiting added = new Waiting(command, deadlineNs, answer);
        if (waiting.size() >= WAITING_MAX) {
            added.refuse("Too many commands wait");
            return;
        }
        waiting.add(added);
        beginWaiting();
    }

    private void beginWaiting() {
        while (pending.size() < COMMANDS_MAX && !waiting.isEmpty()) {
            Waiting next = waiting.poll();
            PendingCommand begun = new PendingCommand(nextSequence++, next.command(), next.deadlineNs(), next.answer());
            pending.put(begun.sequence, begun);
            attempt(begun);
        }
    }

    /** There is a leader to send everything to that waits. */
    void onLeader() {
        List.copyOf(pending.values()).forEach(this::attempt);
    }

    /** Gives up what is late. */
    void expireLate() {
        long nowNs = options.clock().nanoTime();
        List<PendingCommand> late = new ArrayList<>();
        for (PendingCommand command : pending.values()) {
            if (nowNs - command.deadlineNs >= 0) {
                late.add(command);
            }
        }
        late.forEach(this::expire);
        while (!waiting.isEmpty() && nowNs - waiting.peek().deadlineNs() >= 0) {
            waiting.poll().refuse("Its turn didn't come in time: " + link.lastReason());
        }
    }

    /** Gives up everything. */
    void end() {
        for (Waiting never = waiting.poll(); never != null; never = waiting.poll()) {
            never.refuse("The client was closed");
        }
        List.copyOf(pending.values())
                .forEach(command ->
                        finish(command, new MetadataException(Reason.UNKNOWN_OUTCOME, "The client was closed")));
    }

    private void attempt(PendingCommand of) {
        RpcConnection leader = link.leader();
        if (leader == null || of.inFlight || !pending.containsKey(of.sequence)) {
            return;
        }
        long leftMs = (of.deadlineNs - options.clock().nanoTime()) / 1_000_000;
        if (leftMs <= 0) {
            expire(of);
            return;
        }
        of.inFlight = true;
        MetadataCommand command = of.command
                .setClientId(clientId)
                .setSequence(of.sequence)
                .setAnsweredBelow(pending.firstKey())
                .build();
        leader.call(Methods.SUBMIT, Calls.bytesOf(command), Math.min(leftMs, options.attemptMs()))
                .whenComplete((body, trouble) -> thread.execute(body, () -> onAttempt(of, leader, body, trouble)));
    }

    private void onAttempt(PendingCommand of, RpcConnection asked, ByteBuf body, Throwable trouble) {
        of.inFlight = false;
        if (!pending.containsKey(of.sequence)) {
            return;
        }
        if (trouble != null) {
            RpcStatus status = Calls.statusOf(trouble);
            of.maybeDone |= !status.certainlyNotDone();
            if (status == RpcStatus.INVALID || status == RpcStatus.UNSUPPORTED) {
                finish(of, new MetadataException(Reason.INVALID, trouble.getMessage()));
            } else {
                link.onFailed(asked, status, trouble.getMessage());
                retry(of);
            }
            return;
        }
        link.onAnswered(asked);
        SubmitReply reply;
        try {
            reply = SubmitReply.parseFrom(body.nioBuffer());
        } catch (InvalidProtocolBufferException malformed) {
            of.maybeDone = true;
            link.onNotLeader(asked, Calls.NO_HINT, malformed.getMessage());
            retry(of);
            return;
        }
        if (reply.hasNotLeader()) {
            link.onNotLeader(asked, reply.getNotLeader(), "the node doesn't lead");
            retry(of);
        } else {
            onReply(of, reply.getReply());
        }
    }

    private void onReply(PendingCommand of, CommandReply reply) {
        CommandingClient.rejectionIn(reply).ifPresentOrElse(rejection -> finish(of, rejection), () -> {
            // It was done; its answer waits for the view. The command stays pending until then, so that its deadline
            // counts.
            of.maybeDone = true;
            of.inFlight = true;
            keeper.whenAt(reply.getVersion(), () -> {
                if (pending.remove(of.sequence) != null) {
                    of.answer.complete(reply);
                    beginWaiting();
                }
            });
        });
    }

    /** Sends a command again: now, or when there is a leader to send it to. */
    private void retry(PendingCommand of) {
        if (options.clock().nanoTime() >= of.deadlineNs) {
            expire(of);
        } else {
            attempt(of);
        }
    }

    private void expire(PendingCommand of) {
        finish(
                of,
                of.maybeDone
                        ? new MetadataException(Reason.UNKNOWN_OUTCOME, "No answer in time: " + link.lastReason())
                        : new MetadataException(Reason.UNAVAILABLE, "No leader in time: " + link.lastReason()));
    }

    private void finish(PendingCommand of, MetadataException trouble) {
        if (pending.remove(of.sequence) != null) {
            of.answer.completeExceptionally(trouble);
            beginWaiting();
        }
    }
}
