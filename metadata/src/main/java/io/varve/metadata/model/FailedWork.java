package io.varve.metadata.model;

import java.util.Objects;

/**
 * Work on a segment, such as its upload, that failed.
 *
 * @param attempts how often in a row
 * @param notBeforeMs when it may be tried again: wall time of the metadata's leader
 * @param reason what went wrong last, in a line, as {@code CLASS: text}
 */
public record FailedWork(int attempts, long notBeforeMs, String reason) {

    private static final String NO_CLASS = "OTHER";

    public FailedWork {
        Objects.requireNonNull(reason, "reason");
    }

    /** The class of the failure: what stands before the colon, or else OTHER. */
    public String errorClass() {
        int colon = reason.indexOf(':');
        if (colon <= 0) {
            return NO_CLASS;
        }
        for (int i = 0; i < colon; i++) {
            char c = reason.charAt(i);
            if (c != '_' && (c < 'A' || c > 'Z')) {
                return NO_CLASS;
            }
        }
        return reason.substring(0, colon);
    }
}
