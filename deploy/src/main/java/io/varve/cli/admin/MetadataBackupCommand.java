package io.varve.cli.admin;

import io.varve.cli.link.MetadataLink;
import io.varve.cli.text.Units;
import io.varve.metadata.server.MetadataBackup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The whole metadata in a file. */
@Command(
        name = "backup",
        description = {
            "Writes the whole metadata, as of one moment, to a file, while the cluster runs. The file is there whole or not at all; none is overwritten.",
            "It is for the loss of all metadata nodes' disks alone: see varve metadata restore."
        })
public final class MetadataBackupCommand implements Callable<Integer> {

    @Mixin
    private MetadataOptions metadata;

    @Parameters(paramLabel = "FILE", description = "The file to write.")
    private Path file;

    @Option(
            names = "--from",
            paramLabel = "DIR",
            description = {
                "Takes it from the data directory of a node that is stopped, for when no quorum will ever be again.",
                "Take the node with the highest APPLIED; the others may know less."
            })
    private Path directory;

    @Override
    public Integer call() {
        try {
            MetadataBackup.Contents saved = directory == null ? save() : MetadataBackup.salvage(directory, file);
            System.out.println("Saved cluster " + saved.clusterId() + " at version " + saved.version() + ": "
                    + saved.topics() + " topics, " + saved.partitions() + " partitions, " + saved.segments()
                    + " segments, " + Units.bytes(Files.size(file)) + " in " + file);
        } catch (IOException e) {
            throw new AdminFailure("the backup can't be written: " + e.getMessage());
        }
        return 0;
    }

    private MetadataBackup.Contents save() throws IOException {
        try (MetadataLink link = metadata.connect()) {
            return MetadataBackup.save(link.client(), file, metadata.patience().toMillis());
        }
    }
}
