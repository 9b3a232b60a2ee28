package io.varve.tiering.api;

/** Why a range that should be in object storage could not be read. */
public final class RemoteReadException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final Kind kind;

    /** @param message one line with the object's key */
    public RemoteReadException(Kind kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    /** What kind of trouble. */
    public Kind kind() {
        return kind;
    }

    /** Kinds of trouble (I-7). */
    public enum Kind {
        /** Throttled, timed out, connection broken: try again later. */
        UNAVAILABLE,
        /** The store refuses: credentials or rights. */
        FORBIDDEN,
        /** The object is not there although the metadata names it. An alarm. */
        MISSING,
        /** What came back does not have its checksum or its form. An alarm. */
        CORRUPT,
        /** Written by a later major version of the format. */
        UNSUPPORTED_VERSION
    }
}
