package io.varve.serving.core.fetchsession;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.serving.core.fetchsession.FetchSessions.Plan;
import io.varve.serving.core.fetchsession.FetchSessions.Refusal;
import io.varve.serving.core.fetchsession.FetchSessions.Request;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class FetchSessionsTest {

    private static final long REST_MS = 120_000;

    private int nextId = 1;
    private final FetchSessions<String> sessions = new FetchSessions<>(3, REST_MS, () -> nextId++);

    @Test
    void aNewSessionMentionsEverythingAndThenOnlyWhatChanged() {
        Plan.Serve<String> full = create("c", 0, "a", "b");
        assertThat(full.full()).isTrue();
        assertThat(full.sessionId()).isNotZero();
        assertThat(sessions.mention(full, "a", false, false, 10, 0)).isTrue();
        assertThat(sessions.mention(full, "b", false, false, 10, 0)).isTrue();

        Plan.Serve<String> next = serve(incremental(full.sessionId(), 1, Map.of(), List.of()));
        assertThat(next.full()).isFalse();
        assertThat(next.wanted()).containsOnlyKeys("a", "b");
        assertThat(sessions.mention(next, "a", false, false, 10, 0)).isFalse();
        assertThat(sessions.mention(next, "b", false, false, 11, 0)).isTrue();

        Plan.Serve<String> third = serve(incremental(full.sessionId(), 2, Map.of(), List.of()));
        assertThat(sessions.mention(third, "a", true, false, 10, 0)).isTrue();
        assertThat(sessions.mention(third, "b", false, false, 11, 3)).isTrue();
    }

    @Test
    void anErrorIsMentionedEachTimeAndItsEndToo() {
        Plan.Serve<String> full = create("c", 0, "a");
        sessions.mention(full, "a", false, false, 10, 0);
        Plan.Serve<String> failing = serve(incremental(full.sessionId(), 1, Map.of(), List.of()));
        assertThat(sessions.mention(failing, "a", false, true, -1, -1)).isTrue();
        Plan.Serve<String> still = serve(incremental(full.sessionId(), 2, Map.of(), List.of()));
        assertThat(sessions.mention(still, "a", false, true, -1, -1)).isTrue();
        Plan.Serve<String> well = serve(incremental(full.sessionId(), 3, Map.of(), List.of()));
        assertThat(sessions.mention(well, "a", false, false, 10, 0)).isTrue();
        Plan.Serve<String> quiet = serve(incremental(full.sessionId(), 4, Map.of(), List.of()));
        assertThat(sessions.mention(quiet, "a", false, false, 10, 0)).isFalse();
    }

    @Test
    void partitionsAreAddedChangedAndForgotten() {
        int id = create("c", 0, "a", "b").sessionId();
        Wanted moved = new Wanted(99, 1, 7, -1);
        Plan.Serve<String> next = serve(incremental(id, 1, Map.of("a", moved, "c", wanted(0)), List.of("b")));
        assertThat(next.wanted()).containsOnlyKeys("a", "c").containsEntry("a", moved);
    }

    @Test
    void whoGaveRecordsGoesBehindTheOthers() {
        Plan.Serve<String> full = create("c", 0, "a", "b", "c");
        sessions.end(full, List.of("a"));
        Plan.Serve<String> next = serve(incremental(full.sessionId(), 1, Map.of(), List.of()));
        assertThat(next.wanted().keySet()).containsExactly("b", "c", "a");
    }

    @Test
    void anEpochThatIsNotDueIsRefusedAndTheSessionStays() {
        int id = create("c", 0, "a").sessionId();
        assertThat(incremental(id, 2, Map.of(), List.of())).isEqualTo(new Plan.Refused<>(Refusal.BAD_EPOCH));
        serve(incremental(id, 1, Map.of(), List.of()));
        assertThat(incremental(id, 1, Map.of(), List.of())).isEqualTo(new Plan.Refused<>(Refusal.BAD_EPOCH));
        serve(incremental(id, 2, Map.of(), List.of()));
    }

    @Test
    void aSessionThatIsNotThereOrNamesTopicsOtherwiseIsRefused() {
        assertThat(incremental(77, 1, Map.of(), List.of())).isEqualTo(new Plan.Refused<>(Refusal.NOT_FOUND));
        int id = create("c", 0, "a").sessionId();
        assertThat(sessions.begin(new Request<>(id, 1, false, Map.of(), List.of(), "c"), 0))
                .isEqualTo(new Plan.Refused<>(Refusal.TOPIC_NAMING));
    }

    @Test
    void theFinalEpochEndsTheSession() {
        int id = create("c", 0, "a").sessionId();
        Plan.Serve<String> last =
                serve(sessions.begin(new Request<>(id, FetchSessions.FINAL_EPOCH, true, all("a"), List.of(), "c"), 0));
        assertThat(last.sessionId()).isZero();
        assertThat(last.full()).isTrue();
        assertThat(incremental(id, 1, Map.of(), List.of())).isEqualTo(new Plan.Refused<>(Refusal.NOT_FOUND));
    }

    /** P27 of the user reports: last use counts, not creation. */
    @Test
    void theSessionThatRestedLongestMakesRoomAndOnlyIfItRestedLong() {
        int first = create("c1", 0, "a").sessionId();
        int second = create("c2", 1, "a").sessionId();
        int third = create("c3", 2, "a").sessionId();
        serve(sessions.begin(new Request<>(first, 1, true, Map.of(), List.of(), "c1"), 1_000));
        assertThat(create("c4", REST_MS, "a").sessionId()).isZero();
        assertThat(create("c4", REST_MS + 1, "a").sessionId()).isNotZero();
        assertThat(incremental(second, 1, Map.of(), List.of())).isEqualTo(new Plan.Refused<>(Refusal.NOT_FOUND));
        serve(incremental(first, 2, Map.of(), List.of()));
        serve(incremental(third, 1, Map.of(), List.of()));
        assertThat(sessions.evicted()).isEqualTo(1);
    }

    /** P27 of the user reports: who asks for a new session each time pushes out nobody but himself. */
    @Test
    void aConnectionPushesOutItsOwnSessionsOnly() {
        FetchSessions<String> many = new FetchSessions<>(1_000, REST_MS, () -> nextId++);
        Plan.Serve<String> other = (Plan.Serve<String>)
                many.begin(new Request<>(0, FetchSessions.INITIAL_EPOCH, true, all("a"), List.of(), "good"), 0);
        for (int i = 0; i < 5_000; i++) {
            many.begin(new Request<>(0, FetchSessions.INITIAL_EPOCH, true, all("a"), List.of(), "greedy"), i);
        }
        assertThat(many.size()).isLessThan(10);
        assertThat(many.begin(new Request<>(other.sessionId(), 1, true, Map.of(), List.of(), "good"), 5_000))
                .isInstanceOf(Plan.Serve.class);
    }

    private Plan.Serve<String> create(String connection, long nowMs, String... partitions) {
        return serve(sessions.begin(
                new Request<>(0, FetchSessions.INITIAL_EPOCH, true, all(partitions), List.of(), connection), nowMs));
    }

    private Plan<String> incremental(int id, int epoch, Map<String, Wanted> wanted, List<String> forgotten) {
        return sessions.begin(new Request<>(id, epoch, true, wanted, forgotten, "c"), REST_MS + 2);
    }

    private static Plan.Serve<String> serve(Plan<String> plan) {
        assertThat(plan).isInstanceOf(Plan.Serve.class);
        return (Plan.Serve<String>) plan;
    }

    private static Map<String, Wanted> all(String... partitions) {
        Map<String, Wanted> all = new LinkedHashMap<>();
        for (String partition : partitions) {
            all.put(partition, wanted(0));
        }
        return all;
    }

    private static Wanted wanted(long offset) {
        return new Wanted(offset, 1 << 20, -1, -1);
    }
}
