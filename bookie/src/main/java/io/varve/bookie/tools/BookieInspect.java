package io.varve.bookie.tools;

import io.varve.base.PartitionId;
import io.varve.base.StartupException;
import io.varve.base.StartupException.Reason;
import io.varve.bookie.store.DirectoryInspection;
import io.varve.bookie.store.ReplicaInfo;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Shows and checks what is in a data directory. Nothing is changed, so that the bookie may be running: then the picture is that of the moment, and what was being
 * written may look torn.
 */
public final class BookieInspect {

    private BookieInspect() {}

    /**
     * Shows whose the directory is, and what it holds.
     *
     * @return 0 if all is well, 1 if something is damaged
     * @throws StartupException if it isn't a bookie's directory
     */
    public static int inspect(Path directory, PrintStream out) throws IOException {
        try (DirectoryInspection found = DirectoryInspection.open(directory)) {
            out.printf("directory    %s%n", directory);
            out.printf("cluster      %s%n", found.clusterId());
            out.printf("bookie       %s%n", found.bookie());
            out.printf("incarnation  %016x%n", found.incarnation());
            out.printf(
                    "siblings     %s%n",
                    String.join(
                            " ",
                            found.siblings().stream().map("%016x"::formatted).toList()));
            out.printf("journal      %s%n", journal(found));
            out.printf("fences       %d%n", found.fences().size());
            for (var fence : found.fences().entrySet()) {
                out.printf("  %s epoch %d%n", name(fence.getKey()), fence.getValue());
            }
            List<ReplicaInfo> replicas = found.replicas();
            out.printf("replicas     %d%n", replicas.size());
            out.printf(
                    "  %-12s %-40s %7s %12s %12s %12s %8s %12s %12s %s%n",
                    "segment",
                    "partition",
                    "epoch",
                    "start",
                    "end",
                    "high water",
                    "sealed",
                    "bytes",
                    "settled",
                    "health");
            boolean damaged = found.isJournalDamaged();
            for (ReplicaInfo replica : replicas) {
                damaged |= replica.health() != ReplicaInfo.Health.INTACT;
                out.printf(
                        "  %-12s %-40s %7d %12d %12d %12d %8s %12d %12d %s%n",
                        replica.segment(),
                        name(replica.partition()),
                        replica.epoch(),
                        replica.startOffset(),
                        replica.end(),
                        replica.highWatermark(),
                        replica.sealedEnd() < 0 ? "open" : Long.toString(replica.sealedEnd()),
                        replica.bytes(),
                        found.settledBytes(replica),
                        replica.health());
            }
            return damaged ? 1 : 0;
        }
    }

    /**
     * Reads every entry and verifies it.
     *
     * @return 0 if all is well, 1 if something is damaged
     * @throws StartupException if it isn't a bookie's directory
     */
    public static int verify(Path directory, PrintStream out) throws IOException {
        try (DirectoryInspection found = DirectoryInspection.open(directory)) {
            int wrong = 0;
            long bytes = 0;
            if (found.isJournalDamaged()) {
                out.println("the journal has lost records that were durable");
                wrong++;
            }
            List<ReplicaInfo> replicas = found.replicas();
            for (ReplicaInfo replica : replicas) {
                for (String line : found.verify(replica)) {
                    out.println(line);
                    wrong++;
                }
                bytes += replica.bytes();
            }
            out.printf(
                    "%d replicas, %d bytes of entries, %s%n",
                    replicas.size(), bytes, wrong == 0 ? "all intact" : wrong + " things wrong");
            return wrong == 0 ? 0 : 1;
        }
    }

    /**
     * Shows the records of a journal file, or the entries of a settled segment file, one a line.
     *
     * @return 0 if all of them are intact, 1 if not
     * @throws StartupException if there is no such file
     */
    public static int dump(Path file, PrintStream out) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new StartupException(Reason.DISK, file + " is not a file.");
        }
        return file.getFileName().toString().endsWith(".journal")
                ? JournalDump.print(file, out)
                : SegmentDump.print(file, out);
    }

    private static String journal(DirectoryInspection found) {
        List<Long> files = found.journalFiles();
        String state = found.isJournalDamaged() ? ", DAMAGED" : "";
        return files.isEmpty()
                ? "empty" + state
                : "%d files, %d to %d%s".formatted(files.size(), files.get(0), files.get(files.size() - 1), state);
    }

    static String name(PartitionId partition) {
        return partition.toString();
    }
}
