package io.varve.serving.core.partition;

/** The end: no phase follows (I-14). */
final class Deposed<P> extends Phase<P> {

    Deposed(Tenure<P> tenure) {
        super(tenure);
    }
}
