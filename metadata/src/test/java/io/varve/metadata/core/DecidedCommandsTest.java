package io.varve.metadata.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.InvariantViolation;
import io.varve.protocol.meta.FormClusterCommand;
import io.varve.protocol.meta.MetadataCommand;
import io.varve.protocol.meta.MetadataCommand.BodyCase;
import io.varve.protocol.meta.PlanCommand;
import io.varve.protocol.meta.PlanStep;
import io.varve.protocol.meta.PlanStep.StepCase;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * ADR 0010, ADR 0097: what each feature level decides is on record, as a log of commands and what they came to. Nodes of two builds run together during an upgrade, and a node replays what a build before it decided: if they
 * decide one command otherwise, their states differ for ever.
 */
class DecidedCommandsTest {

    /** {@code -Dvarve.decisions.record=true} writes the latest level's log anew. */
    private static final String RECORD = "varve.decisions.record";

    private static final String WHAT_TO_DO = """
            Command %d of the log of feature level %d, of the kind %s, is decided otherwise than it was when that log was recorded.
            If a release has this level: nodes of it would come to another state. Leave the old rule in place below the next level (image.featureLevel()), raise FeatureLevels.LATEST, and record that level's log.
            If none has: record this level's log anew, and commit it with the change.
            How is told in CONTRIBUTING.md.""";

    static IntStream levels() {
        return IntStream.rangeClosed(1, FeatureLevels.LATEST);
    }

    private static String resource(int level) {
        return "decisions/level-" + level + ".log.gz";
    }

    private static List<DecidedLog.Entry> log(int level) throws IOException {
        if (Boolean.getBoolean(RECORD) && level == FeatureLevels.LATEST) {
            Path file = Path.of("src/test/resources").resolve(resource(level));
            List<DecidedLog.Entry> entries = RecordedCommands.make();
            Files.createDirectories(file.getParent());
            DecidedLog.write(Files.newOutputStream(file), entries);
            return DecidedLog.read(Files.newInputStream(file));
        }
        try (InputStream file = DecidedCommandsTest.class.getClassLoader().getResourceAsStream(resource(level))) {
            assertThat(file)
                    .as("feature level %d has no log: record it with -D%s=true (CONTRIBUTING.md)", level, RECORD)
                    .isNotNull();
            return DecidedLog.read(file);
        }
    }

    @ParameterizedTest
    @MethodSource("levels")
    void everyLevelDecidesAsItDidWhenItWasRecorded(int level) throws IOException {
        MetadataStateMachine machine = new MetadataStateMachine(MetadataImage.EMPTY, CommandHistory.EMPTY);
        int number = 0;
        int index = 0;
        for (DecidedLog.Entry recorded : log(level)) {
            MetadataCommand command = recorded.command();
            if (command.hasFormCluster()) {
                machine = new MetadataStateMachine(MetadataImage.EMPTY, CommandHistory.EMPTY);
                index = 0;
            }
            DecidedLog.Entry now = DecidedLog.Entry.of(command, machine.apply(++index, command));
            assertThat(now.decided())
                    .as(WHAT_TO_DO, ++number, level, command.getBodyCase())
                    .isEqualTo(recorded.decided());
        }
        assertThat(machine.image().featureLevel()).isEqualTo(level);
    }

    @Test
    void theLatestLevelsLogHoldsEveryKindOfCommandAndStep() throws IOException {
        Set<BodyCase> kinds = EnumSet.noneOf(BodyCase.class);
        Set<StepCase> steps = EnumSet.noneOf(StepCase.class);
        for (DecidedLog.Entry entry : log(FeatureLevels.LATEST)) {
            kinds.add(entry.command().getBodyCase());
            entry.command().getPlan().getStepsList().forEach(step -> steps.add(step.getStepCase()));
        }
        assertThat(kinds).isEqualTo(EnumSet.complementOf(EnumSet.of(BodyCase.BODY_NOT_SET)));
        assertThat(steps).isEqualTo(EnumSet.complementOf(EnumSet.of(StepCase.STEP_NOT_SET)));
    }

    @Test
    void aNodeStopsAtWhatOnlyLaterBuildsKnow() {
        Cluster cluster = new Cluster();
        MetadataImage before = cluster.image();
        List<MetadataCommand.Builder> later = List.of(
                MetadataCommand.newBuilder(),
                MetadataCommand.newBuilder().setPlan(PlanCommand.newBuilder().addSteps(PlanStep.getDefaultInstance())),
                MetadataCommand.newBuilder()
                        .setFormCluster(FormClusterCommand.newBuilder()
                                .setClusterId("c")
                                .setFeatureLevel(FeatureLevels.LATEST + 1)));
        for (MetadataCommand.Builder command : later) {
            assertThatThrownBy(() -> cluster.apply(command))
                    .isInstanceOf(InvariantViolation.class)
                    .hasMessageContaining("run a later one here");
            assertThat(cluster.image()).isSameAs(before);
        }
    }

    @Test
    void aNodeDoesNotGoOnFromALaterLevelsSnapshot() {
        Cluster cluster = new Cluster();
        SnapshotReplay replay = new SnapshotReplay();
        ImageRecords.stream(cluster.image())
                .map(record -> record.hasCluster()
                        ? record.toBuilder()
                                .setCluster(record.getCluster().toBuilder().setFeatureLevel(FeatureLevels.LATEST + 1))
                                .build()
                        : record)
                .forEach(replay::add);
        MetadataImage later = replay.finish(1, 0);
        assertThatThrownBy(() -> new MetadataStateMachine(later, CommandHistory.EMPTY))
                .isInstanceOf(InvariantViolation.class);
    }
}
