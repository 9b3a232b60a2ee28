package io.varve.serving.core.partition;

/** A checkpoint that is not what this version, or any version, writes. Another one is taken, and more is replayed. */
public final class CheckpointFormatException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    CheckpointFormatException(String what) {
        super(what);
    }
}
