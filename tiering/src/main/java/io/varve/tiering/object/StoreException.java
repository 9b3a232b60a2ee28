package io.varve.tiering.object;

/** Why a call to the store did not do what it was asked. */
public final class StoreException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final Kind kind;
    private final boolean made;

    /** @param message one line: the verb, the key and what the store said */
    public StoreException(Kind kind, String message, Throwable cause) {
        this(kind, message, cause, true);
    }

    private StoreException(Kind kind, String message, Throwable cause, boolean made) {
        super(message, cause);
        this.kind = kind;
        this.made = made;
    }

    /** Of a call that was never handed to the store, for what had to be known before it was not to be had: this is why. */
    public static StoreException notMade(Kind kind, String message, Throwable cause) {
        return new StoreException(kind, message, cause, false);
    }

    /** @param message one line: the verb, the key and what the store said */
    public StoreException(Kind kind, String message) {
        this(kind, message, null);
    }

    /** Whether the call may have been made; false only if it certainly wasn't. */
    public boolean mayHaveBeenMade() {
        return made;
    }

    /** What kind of trouble. */
    public Kind kind() {
        return kind;
    }

    /** Kinds of trouble. */
    public enum Kind {
        /** The store asks for fewer calls: 503, 500, 429. Nothing was done, or it is unknown whether. */
        THROTTLED(true),
        /** We ask for more at a time than there are connections for: the call was not made. It says nothing of the store. */
        SATURATED(true),
        /** No answer within our own deadline: it is unknown whether it was done (I-17). */
        TIMED_OUT(true),
        /** No connection, or it broke: it is unknown whether it was done. */
        UNREACHABLE(true),
        /** Fewer bytes came back than were asked for: of this object. It says nothing of the others. */
        TRUNCATED(true),
        /** Credentials or rights. */
        FORBIDDEN(false),
        /** There is no such object, says the store itself. */
        NOT_FOUND(false),
        /** There is no such bucket or directory. */
        NO_BUCKET(false),
        /** The multipart upload is unknown: completed, aborted or expired. */
        UPLOAD_GONE(false),
        /** The store doesn't take the request as it is. */
        REFUSED(false),
        /** The disk under a local store fails. */
        DISK(false),
        /** We closed the store. */
        CLOSED(false);

        private final boolean transientTrouble;

        Kind(boolean transientTrouble) {
            this.transientTrouble = transientTrouble;
        }

        /** Whether the same call may well succeed a little later. */
        public boolean isTransient() {
            return transientTrouble;
        }
    }
}
