package io.varve.bookie.store;

import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieClient.FenceRequest;
import io.varve.bookie.client.BookieStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * One call to raise fences, on its way through the journals of all directories. A fence is kept in every one of them, so that it outlives any of them. Safe for any thread.
 */
final class FenceRound {

    private final SharedState shared;
    private final List<FenceRequest> requests;
    private final FenceReply[] replies;
    private final CompletableFuture<List<FenceReply>> answer = new CompletableFuture<>();
    private int directoriesLeft;
    private int directoriesDone;

    /** @param directories how many are asked */
    FenceRound(SharedState shared, List<FenceRequest> requests, int directories) {
        this.shared = shared;
        this.requests = requests;
        this.replies = new FenceReply[requests.size()];
        this.directoriesLeft = directories;
    }

    CompletableFuture<List<FenceReply>> answer() {
        return answer;
    }

    /** A directory made the fences durable. A reply is {@code null} where it has nothing to say. */
    void onDirectoryDone(FenceReply[] said) {
        boolean complete;
        synchronized (this) {
            for (int at = 0; at < said.length; at++) {
                if (said[at] != null && (replies[at] == null || said[at].status() == BookieStatus.FENCED)) {
                    replies[at] = said[at];
                }
            }
            directoriesDone++;
            complete = --directoriesLeft == 0;
        }
        if (complete) {
            complete();
        }
    }

    /** A directory went out of service meanwhile. It takes no appends any more, so its fences are kept by the others. */
    void onDirectoryLost(DirectoryStore directory) {
        boolean complete;
        synchronized (this) {
            for (int at = 0; at < replies.length; at++) {
                Replica replica = shared.replicas.get(requests.get(at).segment());
                if (replica != null && replica.directory == directory) {
                    replies[at] = unknown(at);
                }
            }
            complete = --directoriesLeft == 0;
        }
        if (complete) {
            complete();
        }
    }

    /** No directory is in service. */
    void completeWithoutDirectories() {
        complete();
    }

    private void complete() {
        List<FenceReply> all = new ArrayList<>(replies.length);
        for (int at = 0; at < replies.length; at++) {
            FenceReply reply = replies[at];
            if (directoriesDone == 0) {
                reply = unknown(at);
            } else if (reply == null) {
                FenceRequest request = requests.get(at);
                reply = shared.vouchesForAbsence(request.segment(), request.incarnation())
                        ? new FenceReply(BookieStatus.NO_SUCH_SEGMENT, -1, -1, 0, false, fenceEpoch(at))
                        : unknown(at);
            }
            all.add(reply);
        }
        answer.complete(all);
    }

    private FenceReply unknown(int at) {
        return new FenceReply(BookieStatus.UNKNOWN, -1, -1, 0, false, fenceEpoch(at));
    }

    private int fenceEpoch(int at) {
        return shared.fence(requests.get(at).partition()).epoch();
    }
}
