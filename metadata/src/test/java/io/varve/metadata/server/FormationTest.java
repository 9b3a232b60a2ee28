package io.varve.metadata.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.StartupException;
import io.varve.metadata.server.Formation.Kind;
import io.varve.metadata.server.Formation.Self;
import io.varve.protocol.meta.IntroduceReply;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** I-13: whose directory a node may use, by what the others know of it. */
class FormationTest {

    private static final Path DIRECTORY = Path.of("data");

    private final Map<Integer, IntroduceReply> replies = new TreeMap<>();

    private void says(int node, String cluster, long stored) {
        replies.put(
                node,
                IntroduceReply.newBuilder()
                        .setClusterId(cluster)
                        .setStoredIndex(stored)
                        .build());
    }

    private static Self empty() {
        return new Self(1, DIRECTORY, "", -1, false);
    }

    private static Self withLog(String cluster, long lastIndex) {
        return new Self(1, DIRECTORY, cluster, lastIndex, false);
    }

    private void assertForeign(Self self, String why) {
        assertThatThrownBy(() -> Formation.judge(self, replies, 1))
                .isInstanceOfSatisfying(
                        StartupException.class,
                        e -> assertThat(e.reason()).isEqualTo(StartupException.Reason.DIRECTORY_FOREIGN))
                .hasMessageContaining(why);
    }

    @Test
    void emptyNodesFormAClusterWhenEnoughOfThemSpoke() {
        assertThat(Formation.judge(empty(), replies, 1)).isNull();
        says(2, "", 0);
        assertThat(Formation.judge(empty(), replies, 1)).isEqualTo(Kind.FOUNDER);
        assertThat(Formation.judge(empty(), replies, 2)).isNull();
    }

    @Test
    void anEmptyNodeReturnsAsSoonAsOneKnowsTheCluster() {
        says(2, "", 0);
        says(3, "c", 0);
        assertThat(Formation.judge(empty(), replies, 2)).isEqualTo(Kind.RETURNING);
    }

    @Test
    void aNodeWithItsLogWaitsForAQuorumOfTheOthersToSpeak() {
        assertThat(Formation.judge(withLog("c", 10), replies, 1)).isNull();
        says(2, "c", 10);
        assertThat(Formation.judge(withLog("c", 10), replies, 1)).isEqualTo(Kind.MEMBER);
    }

    @Test
    void anOlderCopyOfADirectoryIsRefused() {
        says(2, "c", 9);
        says(3, "c", 11);
        assertForeign(withLog("c", 10), "older copy");
    }

    @Test
    void anotherClustersDirectoryIsRefused() {
        says(2, "d", 0);
        assertForeign(withLog("c", 10), "belongs to cluster c");
    }

    @Test
    void aBackupIsNotRestoredBesideALivingCluster() {
        Self restored = new Self(1, DIRECTORY, "c", -1, true);
        assertThat(Formation.judge(restored, replies, 1)).isEqualTo(Kind.RESTORED);
        says(2, "", 0);
        assertThat(Formation.judge(restored, replies, 1)).isEqualTo(Kind.RESTORED);
        says(3, "c", 0);
        assertForeign(restored, "has the cluster already");
    }
}
