package io.varve.serving.core.partition;

import io.varve.base.Invariant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The producers of a partition from the one that has written nothing for the longest to the one that wrote last. Everything in constant time. */
final class ProducersByAge {

    private ProducerState oldest;
    private ProducerState youngest;

    /** All of {@code producers}, by their last batches. */
    static ProducersByAge of(LongMap<ProducerState> producers) {
        List<ProducerState> all = new ArrayList<>(producers.size());
        producers.forEach(all::add);
        all.sort(Comparator.comparingLong(ProducerState::newestOffset).thenComparingLong(state -> state.producerId));
        ProducersByAge byAge = new ProducersByAge();
        all.forEach(byAge::onWrite);
        return byAge;
    }

    /** It is the youngest now, whether it was among them or not. */
    void onWrite(ProducerState state) {
        if (state == youngest) {
            return;
        }
        remove(state);
        state.older = youngest;
        if (youngest == null) {
            oldest = state;
        } else {
            youngest.younger = state;
        }
        youngest = state;
    }

    /** Nothing if it isn't among them. */
    void remove(ProducerState state) {
        if (state != oldest && state.older == null) {
            return;
        }
        if (state.older == null) {
            oldest = state.younger;
        } else {
            state.older.younger = state.younger;
        }
        if (state.younger == null) {
            youngest = state.older;
        } else {
            state.younger.older = state.older;
        }
        state.older = null;
        state.younger = null;
    }

    /** The oldest; there must be one. */
    ProducerState oldest() {
        Invariant.check(oldest != null, "there is an oldest producer");
        return oldest;
    }
}
