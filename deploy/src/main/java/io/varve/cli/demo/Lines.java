package io.varve.cli.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Iterator;
import java.util.NoSuchElementException;

/** The lines of a text file, each under its first word as the key. The caller closes the reader. */
final class Lines implements Iterator<DemoRecord> {

    private final BufferedReader reader;
    private String next;

    Lines(BufferedReader reader) {
        this.reader = reader;
        advance();
    }

    @Override
    public boolean hasNext() {
        return next != null;
    }

    /** @throws UncheckedIOException if the file can't be read any further */
    @Override
    public DemoRecord next() {
        if (next == null) {
            throw new NoSuchElementException();
        }
        String line = next;
        advance();
        int space = line.indexOf(' ');
        return new DemoRecord(space < 0 ? line : line.substring(0, space), line);
    }

    private void advance() {
        try {
            next = reader.readLine();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
