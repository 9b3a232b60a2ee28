package io.varve.serving.core.compaction;

/** A batch that can't be read as what it claims to be, or only with more memory than is allowed. A pass that meets one ends and changes nothing. */
public final class BatchFormatException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** @param message what is wrong */
    public BatchFormatException(String message) {
        super(message);
    }

    /**
     * @param message what is wrong
     * @param cause what the codec said
     */
    public BatchFormatException(String message, Throwable cause) {
        super(message, cause);
    }
}
