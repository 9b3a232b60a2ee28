package io.varve.bookie.store;

import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieClient.FenceRequest;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.core.Fence;
import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.RecordType;
import io.varve.bookie.journal.JournalOp;
import io.varve.bookie.journal.JournalWriter;
import java.util.List;

/**
 * Raises fences in one directory's journal. Its place in the journal's order is what makes the answer true: everything accepted before it is durable
 * with it, and nothing below the fence is accepted after it (I-4).
 */
final class FenceOp extends JournalOp {

    private final DirectoryStore directory;
    private final List<FenceRequest> requests;
    private final FenceRound round;
    private final FenceReply[] replies;

    FenceOp(DirectoryStore directory, List<FenceRequest> requests, FenceRound round) {
        this.directory = directory;
        this.requests = requests;
        this.round = round;
        this.replies = new FenceReply[requests.size()];
    }

    @Override
    protected int roomBytes() {
        return requests.size() * JournalFormat.recordBytes(RecordType.FENCE, 0);
    }

    @Override
    protected void encode(JournalWriter to) {
        for (int at = 0; at < replies.length; at++) {
            FenceRequest request = requests.get(at);
            Fence fence = directory.shared.fence(request.partition());
            if (fence.raise(request.epoch())) {
                Records.writeFence(to, request.partition(), request.epoch());
                replies[at] = directory.describeHere(request.segment(), request.incarnation(), fence, true);
            } else {
                replies[at] = new FenceReply(BookieStatus.FENCED, -1, -1, 0, false, fence.epoch());
            }
        }
    }

    @Override
    protected void onDurable() {
        directory.shared.metrics.fences.increment(replies.length);
        round.onDirectoryDone(replies);
    }

    @Override
    protected void onLost() {
        round.onDirectoryLost(directory);
    }
}
