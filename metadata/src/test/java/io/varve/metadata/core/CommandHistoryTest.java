package io.varve.metadata.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.metadata.api.MetadataException.Reason;
import io.varve.protocol.meta.AllocateProducerIdsCommand;
import io.varve.protocol.meta.MetadataCommand;
import io.varve.protocol.meta.PlanCommand;
import org.junit.jupiter.api.Test;

class CommandHistoryTest {

    private final Cluster cluster = Cluster.of(3);

    private static MetadataCommand.Builder ids(long client, long sequence, long answeredBelow) {
        return MetadataCommand.newBuilder()
                .setClientId(client)
                .setSequence(sequence)
                .setAnsweredBelow(answeredBelow)
                .setAllocateProducerIds(AllocateProducerIdsCommand.getDefaultInstance());
    }

    @Test
    void aCommandSentTwiceIsCarriedOutOnceAndAnsweredAlike() {
        var first = cluster.done(ids(5, 1, 1));
        assertThat(cluster.done(ids(5, 1, 1))).isEqualTo(first);
        assertThat(cluster.done(ids(6, 1, 1)).getProducerIds().getFirst()).isEqualTo(1_000);
        assertThat(cluster.done(ids(5, 2, 2)).getProducerIds().getFirst()).isEqualTo(2_000);
    }

    @Test
    void aRejectionIsRememberedToo() {
        MetadataCommand.Builder create =
                cluster.createTopic("t", 0, 1).setClientId(5).setSequence(1);
        var rejected = cluster.apply(create);
        assertThat(cluster.apply(create)).isEqualTo(rejected);
    }

    @Test
    void aStrayCopyOfAnAnsweredCommandIsNotCarriedOut() {
        cluster.done(ids(5, 1, 1));
        cluster.done(ids(5, 2, 2));
        assertThat(cluster.apply(ids(5, 1, 1)).getRejection().getReason()).isEqualTo(Reason.UNKNOWN_OUTCOME.name());
        assertThat(cluster.image().counters().nextProducerId()).isEqualTo(2_000);
    }

    @Test
    void aClientThatAsksNoMoreIsForgotten() {
        cluster.done(ids(5, 1, 1));
        cluster.nowMs += 1_000;
        cluster.done(ids(6, 1, 1));
        var steps = cluster.machine.history().forgettable(cluster.nowMs, 10);
        cluster.done(
                MetadataCommand.newBuilder().setPlan(PlanCommand.newBuilder().addAllSteps(steps)));
        assertThat(cluster.machine.history().clients()).containsOnlyKeys(6L);
    }

    @Test
    void answersThatTheClientHasAreForgottenAndTheRestIsBounded() {
        for (long sequence = 1; sequence <= 3_000; sequence++) {
            cluster.done(ids(5, sequence, sequence > 2_000 ? 1_990 : 1));
        }
        var client = cluster.machine.history().clients().get(5L);
        assertThat(client.answers()).hasSizeLessThanOrEqualTo(CommandHistory.ANSWERS_MAX);
        assertThat(client.answers().lastKey()).isEqualTo(3_000);
    }
}
