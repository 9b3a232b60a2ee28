package io.varve.bookie.disk;

import java.io.IOException;

/** There was no room for what was to be written, or no quota. Nothing is wrong with the disk: what was written before stands, and it may be tried again. */
public final class DiskFullException extends IOException {

    private static final long serialVersionUID = 1L;

    public DiskFullException(String message, Throwable cause) {
        super(message, cause);
    }
}
