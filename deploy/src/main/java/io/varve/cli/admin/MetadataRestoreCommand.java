package io.varve.cli.admin;

import io.varve.metadata.server.MetadataBackup;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Begins again from a backup. */
@Command(
        name = "restore",
        description = {
            "Lays a backup into the empty data directory of ONE metadata node, which begins with it, alone, when it is started.",
            "Start the other nodes with empty directories then, and add each of them: varve metadata add-node. Only when all nodes' disks are lost:"
                    + " what was changed after the backup is not in it."
        })
public final class MetadataRestoreCommand implements Callable<Integer> {

    @Parameters(paramLabel = "FILE", description = "The backup.")
    private Path file;

    @Option(
            names = "--into",
            paramLabel = "DIR",
            required = true,
            description = "The node's metadata.data.dir; created if it is not there.")
    private Path directory;

    @Override
    public Integer call() {
        try {
            MetadataBackup.Contents restored = MetadataBackup.restore(file, directory, System.currentTimeMillis());
            System.out.println(
                    "Restored cluster " + restored.clusterId() + " as of version " + restored.version() + ": "
                            + restored.topics() + " topics, " + restored.partitions() + " partitions, "
                            + restored.segments() + " segments into " + directory);
        } catch (IOException e) {
            throw new AdminFailure(e.getMessage());
        }
        return 0;
    }
}
