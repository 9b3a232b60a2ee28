package io.varve.cli.admin;

import io.varve.cli.link.MetadataLink;
import io.varve.cli.text.Progress;
import io.varve.cli.text.Units;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.Topic;
import io.varve.tiering.client.Tiering;
import io.varve.tiering.tools.TopicVerify;
import java.util.OptionalLong;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Checks that what the metadata says is what there is. */
@Command(name = "verify", description = "Checks that what the metadata says is what there is.")
public final class VerifyCommand implements Runnable {

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "Which command?");
    }

    @Command(
            name = "topic",
            description = {
                "Walks a topic's chains, their manifests and the objects behind them, and prints a line for every gap, overlap, absence and disagreement.",
                "Ends with 0 if there is none."
            })
    int topic(
            @Mixin ClusterOptions cluster,
            @Parameters(paramLabel = "TOPIC", description = "The topic's name.") String name,
            @Option(names = "--deep", description = "Reads every byte of every object.") boolean deep) {
        try (MetadataLink link = cluster.connect()) {
            Topic topic = MetadataOptions.topic(link.client().view(), name);
            try (Tiering store = cluster.openStore(link.client().view())) {
                return verify(link, store, topic, deep);
            }
        }
    }

    private static int verify(MetadataLink link, Tiering store, Topic topic, boolean deep) {
        Supplier<MetadataView> views = () -> MetadataOptions.await(link.client().linearizable());
        TopicVerify.Result result;
        try (Progress progress = Progress.of(
                "segments", OptionalLong.of(TopicVerify.segmentsOf(link.client().view(), topic)))) {
            result = store.newTopicVerify(System.out, deep, (done, of) -> progress.to(done))
                    .verify(views, topic);
        }
        System.out.println(line(result, deep));
        return result.problems() == 0 ? 0 : 1;
    }

    private static String line(TopicVerify.Result result, boolean deep) {
        return Units.counted(result.segments(), "segment") + ", " + Units.count(result.inManifests())
                + " of them described by manifests, " + Units.count(result.offloaded()) + " offloaded; "
                + Units.counted(result.objects(), "object") + " of " + Units.bytes(result.bytes())
                + (deep ? " read whole and intact" : " there, by their footers")
                + "; " + Units.counted(result.problems(), "problem");
    }
}
