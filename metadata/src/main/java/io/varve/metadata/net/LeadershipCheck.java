package io.varve.metadata.net;

import io.varve.metadata.raft.RaftPeerAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Whether this node still leads, by the word of most members (I-17): they were asked after the read came, and are in this node's term. Whoever leads instead was elected by most of them, one of whom
 * would have said a later term. See ADR 0106.
 *
 * <p>One round of questions serves all reads that were there when it began; who comes meanwhile waits for the next. Safe for any thread.
 */
final class LeadershipCheck {

    private final Supplier<Standing> standing;
    private final TermsOf others;
    private CompletableFuture<Void> underWay;
    private CompletableFuture<Void> next;

    /**
     * How this node stands at a moment.
     *
     * @param members as it knows them; itself among them, unless it was taken away
     */
    record Standing(int nodeId, long term, List<RaftPeerAddress> members) {}

    /** Asks others for their terms: an answer for each of them, in their order, that comes or fails within a time. */
    @FunctionalInterface
    interface TermsOf {
        List<CompletableFuture<Long>> ask(List<RaftPeerAddress> members);
    }

    /** @param standing asked at the beginning of each round */
    LeadershipCheck(Supplier<Standing> standing, TermsOf others) {
        this.standing = standing;
        this.others = others;
    }

    /**
     * Asks.
     *
     * @return completes when most members, this one among them, were in this node's term at a time after this call; fails if too few say so. Whether it led in that term is for the caller to know
     */
    CompletableFuture<Void> confirm() {
        CompletableFuture<Void> round;
        synchronized (this) {
            if (underWay != null) {
                next = next == null ? new CompletableFuture<>() : next;
                return next;
            }
            round = new CompletableFuture<>();
            underWay = round;
        }
        begin(round);
        return round;
    }

    private void begin(CompletableFuture<Void> round) {
        round.whenComplete((confirmed, trouble) -> onEnded());
        try {
            ask(round);
        } catch (RuntimeException unable) {
            round.completeExceptionally(unable);
        }
    }

    private void onEnded() {
        CompletableFuture<Void> round;
        synchronized (this) {
            round = next;
            underWay = round;
            next = null;
        }
        if (round != null) {
            begin(round);
        }
    }

    private void ask(CompletableFuture<Void> round) {
        Standing now = standing.get();
        List<RaftPeerAddress> asked = now.members().stream()
                .filter(member -> member.nodeId() != now.nodeId())
                .toList();
        int most = now.members().size() / 2 + 1;
        int self = now.members().size() - asked.size();
        if (asked.isEmpty() && self == 0) {
            throw new IllegalStateException("there are no members");
        }
        if (most == self) {
            round.complete(null);
            return;
        }
        Tally tally = new Tally(now.term(), most - self, asked.size(), round);
        others.ask(asked).forEach(answer -> answer.whenComplete(tally::onAnswer));
    }

    /** The answers of one round. */
    private static final class Tally {

        private final long term;
        private final int needed;
        private final int asked;
        private final CompletableFuture<Void> round;
        private int inTerm;
        private int answers;

        /** @param needed how many of those who are asked make most members with this node */
        Tally(long term, int needed, int asked, CompletableFuture<Void> round) {
            this.term = term;
            this.needed = needed;
            this.asked = asked;
            this.round = round;
        }

        void onAnswer(Long said, Throwable trouble) {
            boolean isConfirmed;
            boolean isOver;
            synchronized (this) {
                answers++;
                inTerm += trouble == null && said == term ? 1 : 0;
                isConfirmed = inTerm >= needed;
                isOver = answers == asked;
            }
            if (isConfirmed) {
                round.complete(null);
            } else if (isOver) {
                round.completeExceptionally(
                        new IllegalStateException("of the other members, " + inTerm + " are in term " + term));
            }
        }
    }
}
