package io.varve.base;

/** Why a role can't start, in one line for its operator, and the exit code its process ends with. */
public final class StartupException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final Reason reason;

    /** @param message one line: what is wrong, where, and what would mend it */
    public StartupException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    /** @param message one line: what is wrong, where, and what would mend it */
    public StartupException(Reason reason, String message, Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    /** What kind of trouble. */
    public Reason reason() {
        return reason;
    }

    /** Kinds of trouble. The codes are documented in the README and never change. */
    public enum Reason {
        /** A wrong or unknown configuration key or value. */
        BAD_CONFIG(2),
        /** The address to listen on is taken or not ours. */
        PORT_TAKEN(10),
        /** Another process uses the data directory. */
        DIRECTORY_LOCKED(11),
        /** The data directory belongs to another cluster or node, or contradicts the metadata. */
        DIRECTORY_FOREIGN(12),
        /** The metadata service has no quorum, or none of its nodes answers. */
        NO_QUORUM(13),
        /** The bucket is missing, forbidden or lacks an ability. */
        NO_BUCKET(14),
        /** The disk can't be read or written. */
        DISK(15),
        /** The cluster refuses this node: its id is in use. */
        DUPLICATE_NODE(16);

        private final int exitCode;

        Reason(int exitCode) {
            this.exitCode = exitCode;
        }

        /** The process's exit code. */
        public int exitCode() {
            return exitCode;
        }
    }
}
