package io.varve.cli.admin;

import io.varve.cli.link.MetadataLink;
import io.varve.cli.report.OffloadReport;
import io.varve.cli.text.Json;
import io.varve.cli.text.Table;
import io.varve.cli.text.Units;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.ClusterConfigSchema;
import io.varve.protocol.runtime.SystemClock;
import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Uploads to object storage: what waits and why, and stopping them for a while. */
@Command(name = "offload", description = "Shows what waits for object storage and why; pauses and resumes uploads.")
public final class OffloadCommand implements Runnable {

    /** Of a topic. */
    private static final String TOPIC_PAUSE = "remote.log.copy.disable";

    /** A bucket that lets nothing be deleted has as many as there are objects. */
    private static final int ALARMS_SHOWN = 20;

    private static final String TOPIC = "The topic's name; all topics if left out.";

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "Which command?");
    }

    @Command(
            name = "status",
            description = {
                "Shows what is sealed and not yet in object storage, and for each partition why its oldest segment is still local.",
                "Asks the metadata service alone, so it works while the store is down."
            })
    int status(@Mixin MetadataOptions metadata, @Option(names = "--json", description = "Prints JSON.") boolean json) {
        try (MetadataLink link = metadata.connect()) {
            OffloadReport report = OffloadReport.of(link.client().view(), SystemClock.INSTANCE.wallTimeMs());
            if (json) {
                Json.print(System.out, report);
                return 0;
            }
            print(
                    report.segments(),
                    report.bytes(),
                    report.oldestMs(),
                    report.paused(),
                    report.errors(),
                    report.alarms(),
                    System.out);
            Table partitions = new Table("TOPIC", "PARTITION", "SEGMENTS", "BYTES", "OLDEST", "THE OLDEST");
            report.partitions()
                    .forEach(row -> partitions.row(
                            row.topic(),
                            row.partition(),
                            row.segments(),
                            Units.bytes(row.bytes()),
                            Units.age(row.oldestMs()),
                            row.reason()));
            if (!report.partitions().isEmpty()) {
                partitions.print(System.out);
            }
        }
        return 0;
    }

    @Command(
            name = "pause",
            description = {
                "Stops uploads, of one topic or of all. What is sealed stays on the bookies, and retention goes on; uploads that have begun are finished.",
                "Sets remote.log.copy.disable=true on the topic, or tiering.upload.pause=true for the cluster."
            })
    int pause(
            @Mixin MetadataOptions metadata,
            @Parameters(paramLabel = "TOPIC", arity = "0..1", description = TOPIC) String topic) {
        return set(metadata, topic, Optional.of("true"), "paused");
    }

    @Command(
            name = "resume",
            description = "Lets uploads go on, of one topic or of all that are not paused themselves.")
    int resume(
            @Mixin MetadataOptions metadata,
            @Parameters(paramLabel = "TOPIC", arity = "0..1", description = TOPIC) String topic) {
        return set(metadata, topic, Optional.empty(), "resumed");
    }

    private static int set(MetadataOptions metadata, String topic, Optional<String> value, String done) {
        try (MetadataLink link = metadata.connect()) {
            MetadataClient client = link.client();
            MetadataView view = MetadataOptions.await(client.linearizable());
            if (topic == null) {
                MetadataOptions.await(client.alterBrokerConfigs(
                        Optional.empty(), Map.of(ClusterConfigSchema.UPLOADS_PAUSED.name(), value)));
            } else {
                MetadataOptions.await(client.alterTopicConfigs(
                        MetadataOptions.topic(view, topic).id(), Map.of(TOPIC_PAUSE, value)));
            }
            System.out.println("uploads of " + (topic == null ? "all topics" : topic) + ": " + done);
        }
        return 0;
    }

    /** The summary: also part of {@code varve status}. */
    static void print(
            long segments,
            long bytes,
            long oldestMs,
            boolean paused,
            Map<String, OffloadReport.ErrorRow> errors,
            List<OffloadReport.AlarmRow> alarms,
            PrintStream out) {
        String waiting = segments == 0
                ? "nothing waits"
                : Units.counted(segments, "segment") + " (" + Units.bytes(bytes) + ") wait, the oldest for "
                        + Units.age(oldestMs);
        out.println("Object storage: " + waiting + (paused ? "; uploads are PAUSED" : ""));
        errors.forEach((kind, row) ->
                out.println("  " + kind + ": " + Units.count(row.segments()) + " segments, such as: " + row.latest()));
        alarms.stream()
                .limit(ALARMS_SHOWN)
                .forEach(alarm -> out.println("  ALARM " + alarm.kind() + " " + alarm.partition() + " " + alarm.about()
                        + ": " + alarm.reason()));
        if (alarms.size() > ALARMS_SHOWN) {
            out.println("  ALARM and " + Units.count(alarms.size() - ALARMS_SHOWN) + " more: --json has them all");
        }
    }
}
