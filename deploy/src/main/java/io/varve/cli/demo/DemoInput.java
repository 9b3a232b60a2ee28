package io.varve.cli.demo;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.OptionalLong;

/**
 * What the demo writes.
 *
 * @param name for people
 * @param records to be read once
 * @param count how many there are, if that is known
 */
record DemoInput(String name, Iterator<DemoRecord> records, OptionalLong count, Closeable source) implements Closeable {

    private static final long SEED = 20_240_229;

    /** An access log that is made up as it goes. */
    static DemoInput accessLog(long lines) {
        return new DemoInput(
                "a generated web access log",
                new AccessLog(SEED, lines, System.currentTimeMillis()),
                OptionalLong.of(lines),
                () -> {});
    }

    /** The lines of a file; bytes that are no UTF-8 become replacement characters. */
    static DemoInput file(Path path) throws IOException {
        BufferedReader reader = new BufferedReader(new InputStreamReader(
                Files.newInputStream(path),
                StandardCharsets.UTF_8
                        .newDecoder()
                        .onMalformedInput(CodingErrorAction.REPLACE)
                        .onUnmappableCharacter(CodingErrorAction.REPLACE)));
        return new DemoInput(path.toString(), new Lines(reader), OptionalLong.empty(), reader);
    }

    @Override
    public void close() throws IOException {
        source.close();
    }
}
