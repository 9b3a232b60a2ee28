package io.varve.serving.core.share;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.serving.core.share.ShareSessions.Member;
import io.varve.serving.core.share.ShareSessions.Plan;
import io.varve.serving.core.share.ShareSessions.Refusal;
import io.varve.serving.core.share.ShareSessions.Session;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ShareSessionsTest {

    private static final Member MEMBER = new Member("g", "m");

    private final ShareSessions<String> sessions = new ShareSessions<>(2);

    @Test
    void aSessionTakesTheEpochsInOrderAndKeepsItsPartitions() {
        begin(MEMBER, List.of("p0", "p1"), "c1");
        assertThat(serve(1, List.of("p2"), List.of("p0")).partitions()).containsExactly("p1", "p2");
        assertThat(refusal(1)).isEqualTo(Refusal.BAD_EPOCH);
        assertThat(serve(2, List.of(), List.of()).partitions()).containsExactly("p1", "p2");
    }

    @Test
    void whatWasServedGoesToTheEnd() {
        Session<String> session = begin(MEMBER, List.of("p0", "p1", "p2"), "c1");
        sessions.served(session, List.of("p0"));
        assertThat(session.partitions()).containsExactly("p1", "p2", "p0");
    }

    @Test
    void theLastEpochEndsIt() {
        begin(MEMBER, List.of("p0"), "c1");
        assertThat(sessions.proceed(MEMBER, ShareSessions.LAST_EPOCH, List.of(), List.of()))
                .isInstanceOf(Plan.End.class);
        assertThat(refusal(1)).isEqualTo(Refusal.NOT_FOUND);
        assertThat(sessions.hasAny("g")).isFalse();
    }

    @Test
    void aNewOneReplacesTheOld() {
        Session<String> old = begin(MEMBER, List.of("p0"), "c1");
        assertThat(sessions.begin(MEMBER, List.of("p0"), "c2").replaced()).contains(old);
        assertThat(sessions.size()).isEqualTo(1);
    }

    @Test
    void itEndsWithItsConnection() {
        Session<String> session = begin(MEMBER, List.of("p0"), "c1");
        begin(new Member("g", "other"), List.of("p0"), "c2");
        assertThat(sessions.onDisconnect("c1")).containsExactly(session);
        assertThat(sessions.hasAny("g")).isTrue();
    }

    @Test
    void overTheLimitNoneBegins() {
        begin(MEMBER, List.of(), "c1");
        begin(new Member("g", "n"), List.of(), "c1");
        assertThat(sessions.begin(new Member("g", "o"), List.of(), "c1").plan())
                .isEqualTo(new Plan.Refused<String>(Refusal.TOO_MANY));
        assertThat(sessions.begin(MEMBER, List.of(), "c1").plan()).isInstanceOf(Plan.Serve.class);
    }

    private Session<String> begin(Member member, List<String> partitions, String connection) {
        return ((Plan.Serve<String>)
                        sessions.begin(member, partitions, connection).plan())
                .session();
    }

    private Session<String> serve(int epoch, List<String> added, List<String> forgotten) {
        return ((Plan.Serve<String>) sessions.proceed(MEMBER, epoch, added, forgotten)).session();
    }

    private Refusal refusal(int epoch) {
        return ((Plan.Refused<String>) sessions.proceed(MEMBER, epoch, List.of(), List.of())).why();
    }
}
