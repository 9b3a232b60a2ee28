package io.varve.serving.partition;

import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.bookie.client.AppendListener;
import io.varve.bookie.client.AppendStream;
import io.varve.bookie.client.BookieAddress;
import io.varve.bookie.client.BookieClient;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Bookies that a test only reads from, or says itself what else they do: everything else fails loudly. */
interface ReadOnlyBookies extends BookieClient {

    @Override
    default AppendStream openAppend(
            BookieAddress bookie,
            PartitionId partition,
            SegmentId segment,
            int epoch,
            long startOffset,
            long incarnation,
            AppendListener listener) {
        throw new UnsupportedOperationException("nothing is appended here");
    }

    @Override
    default CompletableFuture<List<FenceReply>> fence(
            BookieAddress bookie, List<FenceRequest> requests, long timeoutMs) {
        throw new UnsupportedOperationException("nothing is fenced here");
    }

    @Override
    default CompletableFuture<FenceReply> describe(BookieAddress bookie, SegmentId segment, long timeoutMs) {
        throw new UnsupportedOperationException("nothing is described here");
    }
}
