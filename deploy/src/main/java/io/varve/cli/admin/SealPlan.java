package io.varve.cli.admin;

import io.varve.base.BookieId;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieStatus;
import io.varve.metadata.api.MetadataClient.Seal;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/**
 * How an open segment would be sealed by force: at the largest end that anybody still holds. Nothing acknowledged is lost where a takeover could have gone on
 * (I-5), which is why that is not forced; otherwise what only the lost replicas held is lost. Pure.
 *
 * @param segment the open one
 * @param replicas what each replica said, in the segment's order
 * @param truthful how many of them count for a takeover
 * @param needed how many that takes
 * @param endOffset where it would end, exclusive
 */
record SealPlan(SegmentDescriptor segment, List<Answer> replicas, int truthful, int needed, long endOffset) {

    /**
     * One replica's answer.
     *
     * @param endOffset of what it holds, -1 if it holds nothing that counts
     */
    record Answer(BookieId bookie, String status, long endOffset, boolean isTruthful) {}

    /** @param replies in the order of the segment's replicas */
    static SealPlan of(SegmentDescriptor open, List<FenceReply> replies) {
        List<Answer> answers = new ArrayList<>();
        int truthful = 0;
        long end = open.startOffset();
        for (int i = 0; i < replies.size(); i++) {
            Answer answer = answer(open.replicas().get(i), replies.get(i));
            answers.add(answer);
            truthful += answer.isTruthful() ? 1 : 0;
            end = Math.max(end, answer.endOffset());
        }
        int needed = open.replicas().size() - open.acks() + 1;
        return new SealPlan(open, List.copyOf(answers), truthful, needed, end);
    }

    private static Answer answer(Replica replica, FenceReply reply) {
        boolean holds = reply.status() == BookieStatus.OK
                && (replica.incarnation() == 0
                        || reply.incarnation() == 0
                        || reply.incarnation() == replica.incarnation());
        boolean vouches = reply.status() == BookieStatus.NO_SUCH_SEGMENT && replica.incarnation() != 0;
        return new Answer(replica.bookie(), reply.status().name(), holds ? reply.end() : -1, holds || vouches);
    }

    /** Whether a takeover needs no force. */
    boolean isNeedless() {
        return truthful >= needed;
    }

    /** The seal: held by those that hold all of it. */
    Seal seal() {
        TreeSet<BookieId> holders = new TreeSet<>();
        for (Answer answer : replicas) {
            if (answer.endOffset() >= endOffset) {
                holders.add(answer.bookie());
            }
        }
        return new Seal(segment.id(), endOffset, -1, -1, holders);
    }
}
