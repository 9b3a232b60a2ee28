package io.varve.serving.core.connection;

import io.varve.base.Invariant;

/**
 * Kafka's rule for one connection: answers leave in the order in which requests came, while the requests themselves are worked on at the
 * same time. A ring of slots: {@link #open()} takes the next one, {@link #complete} fills it in any order, {@link #next()} hands out those
 * whose turn has come.
 *
 * <p>Single owner: the connection's event loop.
 *
 * @param <R> an answer
 */
public final class ResponseOrder<R> {

    private static final int SLOTS_AT_FIRST = 16;

    private Object[] slots = new Object[SLOTS_AT_FIRST];
    private long head;
    private long tail;

    /** Takes the next slot and answers its ticket. */
    public long open() {
        if (tail - head == slots.length) {
            grow();
        }
        return tail++;
    }

    /**
     * Fills a slot.
     *
     * @param ticket from {@link #open()}, once
     * @param response the answer, or something that says that there is none to give
     */
    public void complete(long ticket, R response) {
        Invariant.check(ticket >= head && ticket < tail, "a slot is filled while it is open", ticket, head);
        Invariant.check(response != null, "a slot is filled with something", ticket);
        Invariant.check(slots[index(ticket)] == null, "a slot is filled once", ticket);
        slots[index(ticket)] = response;
    }

    /** The next answer whose turn it is, or {@code null} if the oldest open request has none yet. */
    @SuppressWarnings("unchecked")
    public R next() {
        if (head == tail) {
            return null;
        }
        R response = (R) slots[index(head)];
        if (response != null) {
            slots[index(head)] = null;
            head++;
        }
        return response;
    }

    /** How many slots are open: requests whose answer has not yet left. */
    public int pending() {
        return (int) (tail - head);
    }

    private int index(long ticket) {
        return (int) (ticket & (slots.length - 1));
    }

    private void grow() {
        Object[] larger = new Object[slots.length * 2];
        for (long ticket = head; ticket < tail; ticket++) {
            larger[(int) (ticket & (larger.length - 1))] = slots[index(ticket)];
        }
        slots = larger;
    }
}
