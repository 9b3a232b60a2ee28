package io.varve.metadata.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.metadata.api.MetadataException.Reason;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.SegmentChain;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.SegmentDescriptor.State;
import io.varve.protocol.meta.CommandReply;
import io.varve.protocol.meta.DeleteTopicCommand;
import io.varve.protocol.meta.MetadataCommand;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** I-1, I-8, I-9, I-11, I-14: what a chain goes through when a rewrite takes the place of its inputs. */
class RewriteCommandsTest {

    private final Cluster cluster = Cluster.of(3);
    private final PartitionId partition = new PartitionId(cluster.topic("t", 1, 3, "cleanup.policy", "compact"), 0);
    private SegmentDescriptor first;
    private SegmentDescriptor second;
    private SegmentDescriptor third;

    @BeforeEach
    void threeSealedSegmentsAndAnOpenOne() {
        for (long end : new long[] {0, 10, 30, 60}) {
            cluster.rolled(partition, end);
            cluster.nowMs += 100;
        }
        List<SegmentDescriptor> all =
                List.copyOf(cluster.partition(partition).chain().segments());
        first = all.get(0);
        second = all.get(1);
        third = all.get(2);
    }

    private SegmentDescriptor rewriteOf(SegmentDescriptor... inputs) {
        CommandReply reply = cluster.done(Cluster.allocateRewrite(partition, epoch(), List.of(inputs)));
        return cluster.segment(new SegmentId(reply.getSegment()));
    }

    private int epoch() {
        return cluster.partition(partition).epoch();
    }

    private MetadataCommand.Builder replace(SegmentDescriptor rewrite, SegmentDescriptor... inputs) {
        return Cluster.replace(partition, epoch(), Cluster.seal(rewrite, rewrite.endOffset()), List.of(inputs));
    }

    @Test
    void aRewriteTakesThePlaceOfItsInputsWhoseCopiesAreDeletedByCommand_I8_I9() {
        cluster.nowMs += 5_000;
        SegmentDescriptor rewrite = rewriteOf(first, second);
        assertThat(rewrite.isRewrite()).isTrue();
        cluster.done(replace(rewrite, first, second));
        assertThat(cluster.partition(partition).chain().segments())
                .extracting(SegmentDescriptor::startOffset, SegmentDescriptor::endOffset, SegmentDescriptor::state)
                .containsExactly(
                        tuple(0L, 30L, State.SEALED), tuple(30L, 60L, State.SEALED), tuple(60L, -1L, State.OPEN));
        SegmentDescriptor now = cluster.segment(rewrite.id());
        assertThat(now.isCompacted()).isTrue();
        assertThat(now.sealedMs()).as("it is as old as what it was made of").isEqualTo(second.sealedMs());
        assertThat(cluster.image().segment(first.id())).isEmpty();
        assertThat(cluster.tasks(BookieTask.DeleteReplica.class))
                .filteredOn(task -> task.segment().equals(first.id()))
                .hasSize(3);
        assertThat(cluster.tasks(BookieTask.DeleteReplica.class))
                .filteredOn(task -> task.segment().equals(second.id()))
                .hasSize(3);
    }

    @Test
    void aRewriteSurvivesRollsAndIsNeverRolledIn_I6() {
        SegmentDescriptor rewrite = rewriteOf(first, second);
        assertThat(cluster.image().pendingSegment(partition, epoch()))
                .as("a takeover goes on in a segment, not in a rewrite")
                .isEmpty();
        SegmentDescriptor open = cluster.partition(partition).chain().open().orElseThrow();
        cluster.refused(Cluster.roll(partition, epoch(), Cluster.seal(open, 70), rewrite.id()), Reason.NOT_FOUND);
        for (int i = 0; i < 2 * SegmentCommands.PENDING_MAX; i++) {
            cluster.allocated(partition);
        }
        cluster.rolled(partition, 70);
        cluster.done(replace(rewrite, first, second));
    }

    @Test
    void anotherRewriteDropsTheOneBefore() {
        SegmentDescriptor before = rewriteOf(first, second);
        rewriteOf(second, third);
        assertThat(cluster.image().segment(before.id())).isEmpty();
        assertThat(cluster.tasks(BookieTask.DeleteReplica.class))
                .allMatch(task -> task.segment().equals(before.id()))
                .hasSize(3);
        cluster.refused(replace(before, first, second), Reason.NOT_FOUND);
    }

    @Test
    void aZombieCanNeitherAskForARewriteNorCommitOne_I14() {
        SegmentDescriptor rewrite = rewriteOf(first, second);
        int old = epoch();
        cluster.broker(2);
        cluster.expireBroker(1);
        List<SegmentDescriptor> inputs = List.of(first, second);
        cluster.refused(Cluster.allocateRewrite(partition, old, inputs), Reason.STALE_EPOCH);
        cluster.refused(Cluster.replace(partition, old, Cluster.seal(rewrite, 30), inputs), Reason.STALE_EPOCH);
        cluster.refused(replace(rewrite, first, second), Reason.NOT_FOUND);
        cluster.plan();
        assertThat(cluster.image().segment(rewrite.id()))
                .as("the next owner's look drops it")
                .isEmpty();
    }

    @Test
    void whatLeftTheChainMeanwhileIsNotReplacedAndTheRewriteGoes_I8() {
        SegmentDescriptor rewrite = rewriteOf(first, second);
        cluster.done(Cluster.advance(partition, epoch(), 10));
        cluster.plan();
        assertThat(cluster.image().segment(first.id())).as("trimmed").isEmpty();
        assertThat(cluster.image().segment(rewrite.id())).as("dropped").isEmpty();
        cluster.refused(replace(rewrite, first, second), Reason.NOT_FOUND);
    }

    @Test
    void onlyAdjoiningSealedSegmentsAreRewritten() {
        SegmentDescriptor open = cluster.partition(partition).chain().open().orElseThrow();
        for (List<SegmentDescriptor> inputs : List.of(List.of(first, third), List.of(second, first), List.of(open))) {
            cluster.refused(Cluster.allocateRewrite(partition, epoch(), inputs), Reason.CHAIN_MOVED);
        }
        cluster.refused(Cluster.allocateRewrite(partition, epoch(), List.of()), Reason.INVALID);
        SegmentDescriptor rewrite = rewriteOf(first, second);
        cluster.refused(replace(rewrite, first, second, third), Reason.INVALID);
        cluster.refused(
                Cluster.replace(partition, epoch(), Cluster.seal(rewrite, 29), List.of(first, second)), Reason.INVALID);
    }

    @Test
    void aRewriteThatTooFewHoldIsRefused_I1() {
        SegmentDescriptor rewrite = rewriteOf(first, second);
        cluster.refused(
                Cluster.replace(partition, epoch(), Cluster.seal(rewrite, 30, 1), List.of(first, second)),
                Reason.NOT_ENOUGH_BOOKIES);
        cluster.done(Cluster.replace(partition, epoch(), Cluster.seal(rewrite, 30, 1, 2), List.of(first, second)));
        assertThat(cluster.segment(rewrite.id()).unconfirmed())
                .extracting(replica -> replica.bookie().value())
                .containsExactly(3);
    }

    /** A pass whose memory for keys was full has looked at a part of the last segment only. */
    @Test
    void aRewriteMayBeCompactedInPartAndIsNeverLessThanItsInputsWere() {
        SegmentDescriptor rewrite = rewriteOf(first, second);
        for (long beyond : new long[] {31, Long.MAX_VALUE}) {
            cluster.refused(replaceUpTo(beyond, rewrite, first, second), Reason.INVALID);
        }
        cluster.done(replaceUpTo(20, rewrite, first, second));
        SegmentDescriptor part = cluster.segment(rewrite.id());
        assertThat(part.isCompacted()).isTrue();
        assertThat(part.isCompactedAt(19)).isTrue();
        assertThat(part.isCompactedAt(20)).isFalse();
        assertThat(ProtoModel.fromProto(ProtoModel.toProto(part))).isEqualTo(part);

        SegmentDescriptor again = rewriteOf(part, third);
        cluster.refused(replaceUpTo(19, again, part, third), Reason.INVALID);
        cluster.done(replaceUpTo(40, again, part, third));
        assertThat(cluster.segment(again.id()).compactedEnd()).isEqualTo(40);
    }

    /** {@code max.compaction.lag.ms} goes by when the oldest record may have been written that no pass has looked at. */
    @Test
    void whatIsLeftOfAPassIsAsOldAsItWas() {
        cluster.nowMs += 1_000_000;
        SegmentDescriptor rewrite = rewriteOf(first, second, third);
        cluster.done(replaceUpTo(20, rewrite, first, second, third));
        SegmentDescriptor part = cluster.segment(rewrite.id());
        assertThat(part.createdMs()).as("of the second segment").isEqualTo(second.createdMs());

        cluster.nowMs += 1_000_000;
        SegmentDescriptor again = rewriteOf(part);
        cluster.done(replaceUpTo(40, again, part));
        assertThat(cluster.segment(again.id()).createdMs()).isEqualTo(second.createdMs());

        SegmentDescriptor all = rewriteOf(cluster.segment(again.id()));
        cluster.done(replace(all, cluster.segment(again.id())));
        assertThat(cluster.segment(all.id()).createdMs()).as("nothing is left").isEqualTo(cluster.nowMs);
    }

    @Test
    void oneRewriteIsOfABoundedNumberOfSegments() {
        PartitionId fine = new PartitionId(cluster.topic("long", 1, 3, "cleanup.policy", "compact"), 0);
        for (int i = 0; i <= SegmentChain.STRETCH_MAX + 1; i++) {
            cluster.rolled(fine, i);
        }
        List<SegmentDescriptor> sealed =
                List.copyOf(cluster.partition(fine).chain().segments()).subList(0, SegmentChain.STRETCH_MAX + 1);
        int epoch = cluster.partition(fine).epoch();
        cluster.refused(Cluster.allocateRewrite(fine, epoch, sealed), Reason.INVALID);
        cluster.done(Cluster.allocateRewrite(fine, epoch, sealed.subList(1, sealed.size())));
    }

    private MetadataCommand.Builder replaceUpTo(
            long compactedEnd, SegmentDescriptor rewrite, SegmentDescriptor... inputs) {
        return Cluster.replace(
                partition, epoch(), Cluster.seal(rewrite, rewrite.endOffset()), List.of(inputs), compactedEnd);
    }

    /** S22: what object storage holds is replaced as well. */
    @Test
    void objectsOfInputsAreDeletedByIntentAndUploadsUnderWayAreWithdrawn_I11() {
        String ofFirst = uploaded();
        String ofThird = cluster.segment(third.id()).object().orElseThrow().key();
        assertThat(ofFirst).as("an object of each segment's own").isNotEqualTo(ofThird);
        SegmentDescriptor rewrite = rewriteOf(first, second);
        cluster.done(replace(rewrite, first, second));
        assertThat(cluster.image().taskIndex().deadObjects())
                .containsKey(ofFirst)
                .doesNotContainKey(ofThird);
        cluster.plan();
        assertThat(cluster.tasks(BookieTask.Offload.class))
                .extracting(BookieTask.Offload::segments)
                .containsExactly(List.of(rewrite.id()));
        SegmentDescriptor again = rewriteOf(cluster.segment(rewrite.id()), third);
        cluster.done(replace(again, cluster.segment(rewrite.id()), third));
        assertThat(cluster.tasks(BookieTask.Offload.class)).isEmpty();
    }

    /** Should all bookies be lost, what was replaced is all that a restoration can have. */
    @Test
    void whatWasReplacedStaysInTheBucketUntilWhatReplacedItIsThere_I11() {
        String old = uploaded();
        SegmentDescriptor rewrite = rewriteOf(first, second);
        cluster.done(replace(rewrite, first, second));
        cluster.topicConfig(partition.topic(), "remote.log.copy.disable", "true");
        cluster.nowMs += 3_600_000;
        cluster.plan();
        assertThat(cluster.tasks(BookieTask.DeleteObject.class))
                .as("uploads are paused")
                .isEmpty();
        assertThat(cluster.image().replacedObjects()).contains(old).hasSize(2);

        SegmentDescriptor again = rewriteOf(cluster.segment(rewrite.id()), third);
        cluster.done(replace(again, cluster.segment(rewrite.id()), third));
        cluster.nowMs += 3_600_000;
        cluster.plan();
        assertThat(cluster.tasks(BookieTask.DeleteObject.class))
                .as("nor is what took its place there")
                .isEmpty();

        cluster.topicConfig(partition.topic(), "remote.log.copy.disable", "false");
        cluster.offloadAll();
        assertThat(cluster.segment(again.id()).isOffloaded()).isTrue();
        assertThat(cluster.image().replacedObjects()).isEmpty();
        cluster.plan();
        assertThat(cluster.tasks(BookieTask.DeleteObject.class))
                .extracting(BookieTask.DeleteObject::key)
                .contains(old)
                .hasSize(3);
    }

    /** Several rewrites can take the place of what one object holds. */
    @Test
    void everyRewriteOfWhatAnObjectHeldIsWaitedFor_I11() {
        String merged = merged();
        SegmentDescriptor earlier = rewriteOf(first, second);
        cluster.done(replace(earlier, first, second));
        SegmentDescriptor later = rewriteOf(third);
        cluster.done(replace(later, third));
        cluster.nowMs += 3_600_000;
        cluster.plan();
        upload(later);
        assertThat(cluster.tasks(BookieTask.DeleteObject.class))
                .as("the earlier rewrite is on bookies alone")
                .isEmpty();
        assertThat(cluster.image().replacedObjects()).containsExactly(merged);
        upload(earlier);
        assertThat(cluster.tasks(BookieTask.DeleteObject.class))
                .extracting(BookieTask.DeleteObject::key)
                .containsExactly(merged);
    }

    /** Whatever takes the last segment out of an object: what was in it before may be there as a rewrite alone. */
    @Test
    void aRewriteIsWaitedForAlsoIfRetentionTakesTheRestOfTheObject_I11() {
        String merged = merged();
        SegmentDescriptor rewrite = rewriteOf(second, third);
        cluster.done(replace(rewrite, second, third));
        cluster.done(Cluster.advance(partition, epoch(), 10));
        cluster.nowMs += 3_600_000;
        cluster.plan();
        assertThat(cluster.image().segment(first.id())).as("trimmed").isEmpty();
        cluster.nowMs += 61_000;
        cluster.plan();
        assertThat(cluster.tasks(BookieTask.DeleteObject.class)).isEmpty();
        upload(rewrite);
        assertThat(cluster.tasks(BookieTask.DeleteObject.class))
                .extracting(BookieTask.DeleteObject::key)
                .containsExactly(merged);
    }

    @Test
    void nothingOfADeletedTopicIsWaitedFor() {
        String merged = merged();
        SegmentDescriptor rewrite = rewriteOf(first, second, third);
        cluster.done(replace(rewrite, first, second, third));
        assertThat(cluster.image().replacedObjects()).containsExactly(merged);
        cluster.done(MetadataCommand.newBuilder()
                .setDeleteTopic(DeleteTopicCommand.newBuilder().setId(ProtoModel.toProto(partition.topic()))));
        assertThat(cluster.image().replacedObjects()).isEmpty();
    }

    /** Puts the three segments into objects; answers the key of the one that the first is in. */
    private String uploaded() {
        cluster.nowMs += 3_600_000;
        cluster.offloadAll();
        return cluster.segment(first.id()).object().orElseThrow().key();
    }

    /** Puts the three segments into one object, as they are before their topic is compacted; answers its key. */
    private String merged() {
        cluster.topicConfig(partition.topic(), "cleanup.policy", "delete");
        cluster.topicConfig(partition.topic(), "retention.ms", "-1");
        String key = uploaded();
        cluster.topicConfig(partition.topic(), "cleanup.policy", "compact,delete");
        assertThat(cluster.segment(third.id()).object().orElseThrow().key()).isEqualTo(key);
        return key;
    }

    private void upload(SegmentDescriptor segment) {
        BookieTask.Offload offload = cluster.tasks(BookieTask.Offload.class).stream()
                .filter(task -> task.segments().equals(List.of(segment.id())))
                .findFirst()
                .orElseThrow();
        cluster.done(Cluster.commit(offload, cluster.objectOf(offload)));
        cluster.plan();
    }

    /** Of segments that were merged before the topic was compacted some go, whatever the order; the object stays until the last of them went. */
    @Test
    void anObjectStaysAsLongAsOneOfItsSegmentsIsInIt_I11() {
        String merged = merged();
        cluster.done(Cluster.advance(partition, epoch(), 10));
        SegmentDescriptor rewrite = rewriteOf(second);
        cluster.done(replace(rewrite, second));
        assertThat(cluster.image().taskIndex().deadObjects()).doesNotContainKey(merged);
        cluster.planOnce();
        assertThat(cluster.image().segment(first.id())).as("trimmed").isEmpty();
        assertThat(cluster.image().taskIndex().deadObjects())
                .as("its neighbour was rewritten, and the third is in it still")
                .doesNotContainKey(merged);

        SegmentDescriptor last = rewriteOf(third);
        cluster.done(replace(last, third));
        assertThat(cluster.image().taskIndex().deadObjects()).containsKey(merged);
    }

    @Test
    void whatSnapshotsKeepOfARewriteIsReadBack() {
        SegmentDescriptor rewrite = rewriteOf(first, second);
        MetadataImage before = cluster.image();
        assertThat(ProtoModel.fromProto(ProtoModel.toProto(rewrite))).isEqualTo(rewrite);
        cluster.done(replace(rewrite, first, second));
        SegmentDescriptor sealed = cluster.segment(rewrite.id());
        assertThat(ProtoModel.fromProto(ProtoModel.toProto(sealed))).isEqualTo(sealed);
        assertThat(ProtoModel.fromProto(
                        ProtoModel.toProto(sealed).toBuilder().clearCompacted().build()))
                .as("what an older program wrote")
                .extracting(SegmentDescriptor::isCompacted)
                .isEqualTo(false);
        assertThat(before.segment(first.id())).as("an image stands still").isPresent();
    }
}
