package io.varve.bookie.store;

import io.varve.bookie.client.BookieStatus;
import java.util.ArrayList;
import java.util.List;

/**
 * Turns the appends of one group into as few answers as there are streams: per replica the last end, unless the callback changes in between. Belongs to the journal's thread.
 */
final class AckBatch {

    private final List<Replica> held = new ArrayList<>();

    /** An append of that replica is durable. */
    void ok(Replica replica, SegmentStore.AppendCallback callback, long end) {
        if (replica.heldCallback != callback) {
            if (replica.heldCallback != null) {
                replica.heldCallback.onAppended(BookieStatus.OK, replica.heldEnd);
            } else {
                held.add(replica);
            }
            replica.heldCallback = callback;
        }
        replica.heldEnd = end;
    }

    /** Gives the answers held back for one replica, before something else about it is said. */
    void release(Replica replica) {
        if (replica.heldCallback != null) {
            SegmentStore.AppendCallback callback = replica.heldCallback;
            // It stays in the list, where it is passed over: taking it out would cost a search.
            replica.heldCallback = null;
            callback.onAppended(BookieStatus.OK, replica.heldEnd);
        }
    }

    /** Gives all answers held back. */
    void releaseAll() {
        for (int at = 0; at < held.size(); at++) {
            Replica replica = held.get(at);
            SegmentStore.AppendCallback callback = replica.heldCallback;
            if (callback != null) {
                replica.heldCallback = null;
                callback.onAppended(BookieStatus.OK, replica.heldEnd);
            }
        }
        held.clear();
    }
}
