package io.varve.cli.restore;

import io.varve.base.StartupException;
import io.varve.cli.admin.AdminFailure;
import io.varve.cli.admin.TieringOptions;
import io.varve.cli.text.Progress;
import io.varve.cli.text.Units;
import io.varve.metadata.model.RestoredPartition;
import io.varve.metadata.server.RestoredMetadata;
import io.varve.protocol.runtime.SystemClock;
import io.varve.protocol.runtime.SystemRandomness;
import io.varve.tiering.api.Offloader;
import io.varve.tiering.api.RemoteSegments;
import io.varve.tiering.client.Tiering;
import io.varve.tiering.tools.BucketRestore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Makes a cluster again from what it left in its bucket. */
@Command(
        name = "restore",
        description = {
            "Makes a new cluster of what a lost one left in its bucket: topics with their ids and configurations, every record that was offloaded, and"
                    + " the offsets that groups had committed. Writes the metadata of the new cluster into the empty data directory of one metadata"
                    + " node; start that node alone first, then bookies and brokers with empty directories.",
            "The new cluster has an id of its own, and the bucket is its from then on: what is left of the old one refuses to start.",
            "Whatever ends it before it says that it is done: it can be run again, with the same arguments, and begins anew.",
            "Prints a line for everything that could not be restored. Ends with 0 if the cluster can be started."
        })
public final class RestoreCommand implements Callable<Integer> {

    @Option(
            names = "--from",
            required = true,
            paramLabel = "BUCKET",
            description = "s3://BUCKET[/PREFIX], with --config or --set for endpoint and keys; or file:DIRECTORY.")
    private String from;

    @Option(
            names = "--into",
            paramLabel = "DIR",
            description =
                    "metadata.data.dir of the metadata node that begins; empty, not there yet, or of a restoration that did not end. A dry run needs none.")
    private Path into;

    @Option(
            names = "--cluster",
            paramLabel = "ID",
            description =
                    "Whose objects to take, by what their keys begin with, if more than one cluster left its mark.")
    private String cluster;

    @Option(names = "--dry-run", description = "Says what there is, and changes nothing.")
    private boolean dryRun;

    @Option(
            names = "--replication-factor",
            defaultValue = "3",
            description = "Of topics that no backup knows (${DEFAULT-VALUE}).")
    private int replicas;

    @Option(
            names = "--min-insync-replicas",
            defaultValue = "2",
            description = "Of topics that no backup knows (${DEFAULT-VALUE}).")
    private int acks;

    @Mixin
    private TieringOptions tiering;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        check();
        Map<String, String> place = BucketPlace.keys(from);
        String bucketId = bucketId(place);
        try (Tiering store = tiering.open(bucketId, place)) {
            BucketRestore restore = store.newRestore();
            BucketRestore.Found found;
            Path scratch = Files.createTempDirectory("varve-restore");
            try (Progress progress = Progress.of("objects", OptionalLong.empty())) {
                found = restore.look(scratch, replicas, acks, progress::to);
            } finally {
                Files.deleteIfExists(scratch);
            }
            print(bucketId, found);
            if (found.isEmpty()) {
                found.lost().forEach(line -> System.out.println("not restored: " + line));
                throw new AdminFailure(from + " has nothing of cluster " + bucketId
                        + ": are bucket, prefix and --cluster right? Nothing was changed");
            }
            carryOut(restore, found, bucketId, store);
        }
        return 0;
    }

    private void check() {
        if (replicas < 1 || acks < 1 || acks > replicas) {
            throw new StartupException(
                    StartupException.Reason.BAD_CONFIG,
                    "--min-insync-replicas " + acks + " is not from 1 to --replication-factor " + replicas);
        }
        if (into != null) {
            RestoredMetadata.checkEmpty(into);
        } else if (!dryRun) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), "Missing required option: '--into=DIR' (or --dry-run)");
        }
    }

    private String bucketId(Map<String, String> place) {
        if (cluster != null) {
            return cluster;
        }
        try (Tiering store = tiering.open("", place)) {
            List<String> clusters = store.clusters();
            if (clusters.size() != 1) {
                throw new AdminFailure(
                        clusters.isEmpty()
                                ? from
                                        + " has no cluster's mark: is the prefix right? --cluster ID takes objects without one"
                                : from + " has the marks of several clusters, " + clusters + ": choose by --cluster");
            }
            return clusters.get(0);
        }
    }

    private void carryOut(BucketRestore restore, BucketRestore.Found found, String bucketId, Tiering store)
            throws IOException {
        List<String> lost = new ArrayList<>(found.lost());
        List<RestoredPartition> partitions = withOffsets(found, store, lost);
        if (dryRun) {
            lost.forEach(line -> System.out.println("not restored: " + line));
            System.out.println("Nothing was changed.");
            return;
        }
        String newId = newClusterId();
        RestoredMetadata.lay(found.metadata(), newId, bucketId, found.topics(), partitions, into);
        try {
            restore.takeOver(newId, Long.toHexString(SystemRandomness.unique()));
        } catch (RuntimeException e) {
            // A node that began with it would find the bucket another cluster's.
            RestoredMetadata.takeAway(into);
            throw e;
        }
        RestoredMetadata.finish(into);
        lost.forEach(line -> System.out.println("not restored: " + line));
        System.out.println("restored into " + into + " as cluster " + newId + ": start the metadata node there");
    }

    private List<RestoredPartition> withOffsets(BucketRestore.Found found, Tiering store, List<String> lost) {
        try (RemoteSegments reader = store.newReader()) {
            if (dryRun) {
                return withOffsets(found, store, reader, Optional.empty(), lost);
            }
            try (Offloader writer = store.newOffloader()) {
                return withOffsets(found, store, reader, Optional.of(writer), lost);
            }
        }
    }

    private static List<RestoredPartition> withOffsets(
            BucketRestore.Found found,
            Tiering store,
            RemoteSegments reader,
            Optional<Offloader> writer,
            List<String> lost) {
        return new GroupOffsets(reader, store.newManifests(), writer, found.topics(), found.partitions(), lost)
                .corrected(SystemClock.INSTANCE.wallTimeMs());
    }

    /** In the form that a metadata leader gives a new cluster's. */
    private static String newClusterId() {
        ByteBuffer bits = ByteBuffer.allocate(16)
                .putLong(SystemRandomness.INSTANCE.nextLong())
                .putLong(SystemRandomness.INSTANCE.nextLong());
        String id = Base64.getUrlEncoder().withoutPadding().encodeToString(bits.array());
        return id.startsWith("-") ? "A" + id.substring(1) : id;
    }

    private static void print(String bucketId, BucketRestore.Found found) {
        long segments = 0;
        long bytes = 0;
        for (RestoredPartition partition : found.partitions()) {
            segments += partition.segments().size();
            bytes += partition.segments().stream()
                    .mapToLong(segment -> Math.max(0, segment.bytes()))
                    .sum();
        }
        System.out.println("objects   of cluster " + bucketId);
        System.out.println("backup    "
                + found.backup()
                        .map(backup -> Instant.ofEpochMilli(backup.takenMs()) + ", version " + backup.version() + ", "
                                + backup.key())
                        .orElse("none"));
        System.out.println("found     " + Units.count(found.topics().size()) + " topics, "
                + Units.count(found.partitions().size()) + " partitions, " + Units.count(segments) + " segments, "
                + Units.bytes(bytes) + " in " + Units.count(found.objects()) + " objects");
    }
}
