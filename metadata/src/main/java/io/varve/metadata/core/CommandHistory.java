package io.varve.metadata.core;

import io.varve.metadata.api.MetadataException.Reason;
import io.varve.protocol.meta.CommandReply;
import io.varve.protocol.meta.ForgetClientStep;
import io.varve.protocol.meta.MetadataCommand;
import io.varve.protocol.meta.PlanStep;
import io.varve.protocol.meta.RejectionProto;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.pcollections.TreePMap;

/**
 * The answers given to clients that may still ask for them again: what makes a command that is sent twice be carried out once. Immutable; a part of the replicated state,
 * but of no interest to anybody's view.
 *
 * <p>Bounded: a client says with each command which answers it has, may have no more than {@link #ANSWERS_MAX} outstanding, and is forgotten when it hasn't asked for long
 * (the planner sees to that) or when there are more than {@link #CLIENTS_MAX}.
 */
public final class CommandHistory {

    /** How many answers of one client are kept. Clients keep fewer commands under way. */
    public static final int ANSWERS_MAX = 1_024;

    /** How many clients are remembered. */
    public static final int CLIENTS_MAX = 20_000;

    /** No client has asked yet. */
    public static final CommandHistory EMPTY = new CommandHistory(TreePMap.empty());

    /**
     * What is remembered of one client.
     *
     * @param answeredBelow it has the answers to all sequences below
     * @param lastMs when it last asked
     * @param answers by sequence
     */
    public record Client(long answeredBelow, long lastMs, TreePMap<Long, CommandReply> answers) {
        static final Client NEW = new Client(0, 0, TreePMap.empty());
    }

    private final TreePMap<Long, Client> clients;

    private CommandHistory(TreePMap<Long, Client> clients) {
        this.clients = clients;
    }

    /** What was answered to this command before. */
    Optional<CommandReply> find(MetadataCommand command) {
        Client client = clients.get(command.getClientId());
        if (client == null) {
            return Optional.empty();
        }
        if (command.getSequence() < client.answeredBelow()) {
            // A stray copy of a command whose answer has arrived: nobody waits for this one.
            return Optional.of(CommandReply.newBuilder()
                    .setRejection(RejectionProto.newBuilder()
                            .setReason(Reason.UNKNOWN_OUTCOME.name())
                            .setMessage("The command was answered before"))
                    .build());
        }
        return Optional.ofNullable(client.answers().get(command.getSequence()));
    }

    CommandHistory with(MetadataCommand command, CommandReply reply) {
        Client old = clients.getOrDefault(command.getClientId(), Client.NEW);
        TreePMap<Long, CommandReply> answers = old.answers();
        while (!answers.isEmpty()
                && (answers.firstKey() < command.getAnsweredBelow() || answers.size() >= ANSWERS_MAX)) {
            answers = answers.minusFirstEntry();
        }
        Client now = new Client(
                Math.max(old.answeredBelow(), command.getAnsweredBelow()),
                Math.max(old.lastMs(), command.getNowMs()),
                answers.plus(command.getSequence(), reply));
        TreePMap<Long, Client> changed = clients.plus(command.getClientId(), now);
        return new CommandHistory(changed.size() > CLIENTS_MAX ? changed.minus(stalest(changed)) : changed);
    }

    /** As it was kept in a snapshot. */
    public CommandHistory with(long clientId, Client client) {
        return new CommandHistory(clients.plus(clientId, client));
    }

    CommandHistory without(long clientId) {
        return new CommandHistory(clients.minus(clientId));
    }

    /** Steps that forget clients that have not asked since {@code beforeMs}; {@code most} at a time. */
    public List<PlanStep> forgettable(long beforeMs, int most) {
        List<PlanStep> steps = new ArrayList<>();
        for (Map.Entry<Long, Client> client : clients.entrySet()) {
            if (client.getValue().lastMs() < beforeMs && steps.size() < most) {
                steps.add(PlanStep.newBuilder()
                        .setForgetClient(ForgetClientStep.newBuilder().setClientId(client.getKey()))
                        .build());
            }
        }
        return steps;
    }

    /** All clients by id. */
    public Map<Long, Client> clients() {
        return clients;
    }

    private static long stalest(TreePMap<Long, Client> clients) {
        long stalest = clients.firstKey();
        for (Map.Entry<Long, Client> entry : clients.entrySet()) {
            if (entry.getValue().lastMs() < clients.get(stalest).lastMs()) {
                stalest = entry.getKey();
            }
        }
        return stalest;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CommandHistory that && clients.equals(that.clients);
    }

    @Override
    public int hashCode() {
        return clients.hashCode();
    }
}
