package io.varve.tiering.api;

import java.io.IOException;

/** Why an attempt to upload came to nothing, in a line, as {@code CLASS: text}; and whether an object can be there all the same. */
public final class OffloadFailedException extends IOException {

    private static final long serialVersionUID = 1L;

    private final boolean leftNothing;

    /** @param leftNothing see {@link #leftNothing} */
    public OffloadFailedException(String message, boolean leftNothing, IOException cause) {
        super(message, cause);
        this.leftNothing = leftNothing;
    }

    /**
     * Whether nothing is, nor ever will be, under the attempt's key: no call that makes an object was handed to the store. False if that isn't known, as it isn't of a call that failed. Parts of an upload that was never
     * completed are no object; they are found by their age.
     */
    public boolean leftNothing() {
        return leftNothing;
    }
}
