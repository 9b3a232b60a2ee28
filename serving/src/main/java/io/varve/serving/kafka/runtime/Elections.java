package io.varve.serving.kafka.runtime;

/** A coordinator that is told which partitions of its topic are its own. Calls don't block. */
public interface Elections {

    /**
     * The partition is ours: load it and serve.
     *
     * @param tenure higher than any number named before
     */
    void onElection(int partition, int tenure);

    /**
     * The partition isn't ours any more: forget it.
     *
     * @param nextTenure tenures below this one end
     */
    void onResignation(int partition, int nextTenure);
}
