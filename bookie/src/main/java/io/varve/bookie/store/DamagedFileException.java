package io.varve.bookie.store;

import java.io.IOException;

/** A file could be read, but isn't what it should be: damage, and no trouble with the disk (I-7). */
final class DamagedFileException extends IOException {

    private static final long serialVersionUID = 1L;

    DamagedFileException(String message) {
        super(message);
    }
}
