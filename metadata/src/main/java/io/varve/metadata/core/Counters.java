package io.varve.metadata.core;

/** The next numbers to give out; none is ever given twice. */
record Counters(long nextSegment, long nextTask, long nextProducerId) {

    static final Counters FIRST = new Counters(1, 1, 0);

    Counters afterSegment(long id) {
        return id < nextSegment ? this : new Counters(id + 1, nextTask, nextProducerId);
    }

    Counters afterTask(long id) {
        return id < nextTask ? this : new Counters(nextSegment, id + 1, nextProducerId);
    }
}
