package io.varve.tiering.core;

/** Bytes that are no object of ours, or of a version that this build doesn't read. Says which, never guesses. */
public final class ObjectFormatException extends Exception {

    private static final long serialVersionUID = 1L;

    private final Kind kind;

    private ObjectFormatException(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    /** The bytes don't have their checksum or their form. */
    public static ObjectFormatException corrupt(String what) {
        return new ObjectFormatException(Kind.CORRUPT, what);
    }

    /** The bytes are intact, but a later major version wrote them. */
    public static ObjectFormatException unsupported(String what) {
        return new ObjectFormatException(Kind.UNSUPPORTED_VERSION, what);
    }

    /** Which of the two. */
    public Kind kind() {
        return kind;
    }

    /** Damaged, or too new. */
    public enum Kind {
        CORRUPT,
        UNSUPPORTED_VERSION
    }
}
