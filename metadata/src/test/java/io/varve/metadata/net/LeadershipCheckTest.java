package io.varve.metadata.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.metadata.net.LeadershipCheck.Standing;
import io.varve.metadata.raft.RaftPeerAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** I-17: what a leader says of itself counts for nothing, and what others said before a read came neither. */
class LeadershipCheckTest {

    private static final long TERM = 7;
    private static final int SELF = 1;

    private final List<CompletableFuture<Long>> asked = new ArrayList<>();
    private List<RaftPeerAddress> members = members(SELF, 2, 3, 4, 5);
    private long term = TERM;
    private RuntimeException unable;

    private final LeadershipCheck check = new LeadershipCheck(() -> new Standing(SELF, term, members), this::termsOf);

    @Test
    void aMajorityInThisTermIsEnough() {
        CompletableFuture<Void> read = check.confirm();
        assertThat(asked).hasSize(4);
        asked.get(2).complete(TERM);
        asked.get(0).complete(TERM + 1);
        assertThat(read).as("two of five").isNotDone();
        asked.get(3).complete(TERM);
        assertThat(read).as("three of five").isCompleted();
        asked.get(1).complete(TERM + 1);
        assertThat(asked).hasSize(4);
    }

    @Test
    void withoutAMajorityItFailsWhoeverIsSilentOrInAnotherTerm() {
        CompletableFuture<Void> read = check.confirm();
        asked.get(0).complete(TERM);
        asked.get(1).complete(TERM + 1);
        asked.get(2).complete(TERM - 1);
        assertThat(read).isNotDone();
        asked.get(3).completeExceptionally(new IllegalStateException("silent"));
        assertThat(read).isCompletedExceptionally();
    }

    @Test
    void whoComesWhileARoundIsUnderWayIsServedByTheNextAlone() {
        CompletableFuture<Void> first = check.confirm();
        CompletableFuture<Void> second = check.confirm();
        CompletableFuture<Void> third = check.confirm();
        assertThat(asked).as("one round").hasSize(4);
        answer(0, TERM);
        assertThat(first).isCompleted();
        assertThat(second).isNotDone();
        assertThat(third).isNotDone();
        assertThat(asked).as("another for both").hasSize(8);
        term = TERM + 1;
        answer(4, TERM + 1);
        assertThat(second).as("the round began in the term before").isCompletedExceptionally();
        assertThat(third).isCompletedExceptionally();
        CompletableFuture<Void> fourth = check.confirm();
        answer(8, TERM + 1);
        assertThat(fourth).isCompleted();
    }

    @Test
    void aRoundThatCannotBeginFailsAndTheNextOneBegins() {
        unable = new IllegalStateException("closed");
        assertThat(check.confirm()).isCompletedExceptionally();
        unable = null;
        CompletableFuture<Void> read = check.confirm();
        CompletableFuture<Void> waiting = check.confirm();
        unable = new IllegalStateException("closed");
        answer(0, TERM);
        assertThat(read).isCompleted();
        assertThat(waiting).isCompletedExceptionally();
    }

    @Test
    void aSingleMemberIsMostMembersByItself() {
        members = members(SELF);
        assertThat(check.confirm()).isCompleted();
        assertThat(asked).isEmpty();
    }

    @Test
    void oneOfTwoIsNotMost() {
        members = members(SELF, 2);
        CompletableFuture<Void> read = check.confirm();
        assertThat(read).isNotDone();
        asked.get(0).completeExceptionally(new IllegalStateException("silent"));
        assertThat(read).isCompletedExceptionally();
    }

    @Test
    void whoIsNoMemberAnyLongerDoesNotCountItself() {
        members = members(2, 3, 4);
        CompletableFuture<Void> read = check.confirm();
        asked.get(0).complete(TERM);
        assertThat(read).isNotDone();
        asked.get(1).complete(TERM);
        assertThat(read).isCompleted();
        members = List.of();
        assertThat(check.confirm()).isCompletedExceptionally();
    }

    private void answer(int from, long said) {
        for (CompletableFuture<Long> each : List.copyOf(asked.subList(from, from + 4))) {
            each.complete(said);
        }
    }

    private List<CompletableFuture<Long>> termsOf(List<RaftPeerAddress> others) {
        if (unable != null) {
            throw unable;
        }
        List<CompletableFuture<Long>> answers =
                others.stream().map(other -> new CompletableFuture<Long>()).toList();
        asked.addAll(answers);
        return answers;
    }

    private static List<RaftPeerAddress> members(int... ids) {
        return IntStream.of(ids)
                .mapToObj(id -> new RaftPeerAddress(id, "host-" + id, 1, 2))
                .toList();
    }
}
