package io.varve.serving.core.partition;

/** Before {@link PartitionLeader#start}. */
final class Unstarted<P> extends Phase<P> {

    Unstarted(Tenure<P> tenure) {
        super(tenure);
    }
}
