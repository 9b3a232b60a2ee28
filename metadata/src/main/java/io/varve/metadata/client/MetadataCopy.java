package io.varve.metadata.client;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.core.CommandHistory;
import io.varve.metadata.core.MetadataImage;
import io.varve.metadata.raft.SnapshotFile;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;

/**
 * A whole view as bytes, in the form of a snapshot: what a backup in the bucket holds. Answers that the service remembers for its clients are not in it,
 * for nobody who waits for one outlives what a backup is for.
 */
public final class MetadataCopy {

    private MetadataCopy() {}

    /**
     * Writes a view to a stream, which stays open. Holds no more than a block of it in memory.
     *
     * @param view one of the service's clients'
     */
    public static void write(MetadataView view, OutputStream out) throws IOException {
        if (!(view instanceof MetadataImage image)) {
            throw new IllegalArgumentException("No view of a metadata client: " + view.getClass());
        }
        SnapshotFile.write(out, new SnapshotFile.State(image, CommandHistory.EMPTY));
    }

    /**
     * Reads what {@link #write} wrote.
     *
     * @throws IOException in a line, if it isn't whole or of a later major version
     */
    public static MetadataView read(Path file) throws IOException {
        return SnapshotFile.read(file).image();
    }
}
