package io.varve.metadata.client;

import io.varve.protocol.meta.CommandReply;
import io.varve.protocol.meta.MetadataCommand;
import java.util.concurrent.CompletableFuture;

/** A command under way. Used by the client's thread alone, but for its future. */
final class PendingCommand {

    final long sequence;
    final MetadataCommand.Builder command;
    final long deadlineNs;
    final CompletableFuture<CommandReply> answer;

    /** Whether an attempt is under way. */
    boolean inFlight;

    /** Whether an attempt may have been carried out: its outcome is not known for certain any more. */
    boolean maybeDone;

    PendingCommand(
            long sequence, MetadataCommand.Builder command, long deadlineNs, CompletableFuture<CommandReply> answer) {
        this.sequence = sequence;
        this.command = command;
        this.deadlineNs = deadlineNs;
        this.answer = answer;
    }
}
