package io.varve.cli.admin;

import io.varve.base.StartupException;
import io.varve.cli.link.MetadataLink;
import io.varve.cli.text.Progress;
import io.varve.cli.text.Table;
import io.varve.cli.text.Units;
import io.varve.tiering.client.Tiering;
import io.varve.tiering.scrub.Scrubber;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Finds orphans in the bucket, and deletes them when told to (I-11). */
@Command(
        name = "scrub",
        description = {
            "Compares the bucket with the metadata: objects that nothing names, and names without an object. Looks at this cluster's keys"
                    + " only, and changes nothing unless --delete is given.",
            "Ends with 0 if they agree, or do so after the deletion, with 1 if not."
        })
final class BucketScrubCommand implements Callable<Integer> {

    @Mixin
    private ClusterOptions cluster;

    @Option(names = "--delete", description = "Deletes the orphans. What is named but missing is left to people.")
    private boolean delete;

    @Option(
            names = "--grace-hours",
            defaultValue = "24",
            description = "Objects younger than this count as YOUNG and are left alone (${DEFAULT-VALUE}).")
    private int graceHours;

    @Override
    public Integer call() {
        if (graceHours < 0) {
            throw new StartupException(
                    StartupException.Reason.BAD_CONFIG, "--grace-hours " + graceHours + " is less than 0");
        }
        try (MetadataLink link = cluster.connect();
                Tiering store = cluster.openStore(link.client().view())
                        .ownedBy(link.client().view().clusterId())) {
            Scrubber scrubber = store.newScrubber(Duration.ofHours(graceHours).toMillis());
            Scrubber.Report report;
            try (Progress progress = Progress.of("listing", OptionalLong.empty())) {
                report = scrubber.lookByView(
                        () -> MetadataOptions.await(link.client().linearizable()), progress::to);
            }
            print(report);
            if (report.isTidy()) {
                return report.isClean() ? 0 : 1;
            }
            return delete ? delete(scrubber, report) : say(report);
        }
    }

    private static int say(Scrubber.Report report) {
        System.out.println("Nothing was changed; --delete would delete "
                + Units.counted(report.orphans().size(), "orphan") + " of " + Units.bytes(report.orphanBytes())
                + " and drop " + Units.counted(report.staleUploads().size(), "upload") + ".");
        return 1;
    }

    private static int delete(Scrubber scrubber, Scrubber.Report report) {
        Scrubber.Cleaned cleaned = scrubber.clean(report);
        cleaned.left().forEach((key, why) -> System.out.println("not deleted: " + key + ": " + why));
        System.out.println("Deleted " + Units.counted(cleaned.orphans(), "orphan") + " of "
                + Units.bytes(cleaned.bytes()) + ", dropped " + Units.counted(cleaned.uploads(), "upload") + ".");
        boolean isDone = cleaned.left().isEmpty() && report.orphansLeftOut() == 0;
        return isDone && report.wrong().isEmpty() ? 0 : 1;
    }

    private static void print(Scrubber.Report report) {
        Table counts = new Table("VERDICT", "OBJECTS");
        report.counts().forEach((verdict, count) -> counts.row(verdict, Units.count(count)));
        counts.print(System.out);
        report.orphans()
                .forEach((key, bytes) -> System.out.println("orphan: " + key + " (" + Units.bytes(bytes) + ")"));
        if (report.orphansLeftOut() > 0) {
            System.out.println(
                    "orphan: and " + Units.count(report.orphansLeftOut()) + " more, to be seen when these are deleted");
        }
        report.staleUploadKeys().forEach(key -> System.out.println("upload never completed: " + key));
        report.wrong().forEach((key, what) -> System.out.println("WRONG: " + key + " " + what));
    }
}
