package io.varve.itest.kafka;

import io.varve.cli.process.ChildProcess;
import io.varve.itest.clients.OlderClients;
import io.varve.itest.cluster.JavaProgram;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** A member of a consumer group that runs as a process, and enters what it got into a {@link Deliveries}. */
final class GroupProcess implements AutoCloseable {

    private final ChildProcess process;
    private final boolean isJava;

    private GroupProcess(ChildProcess process, boolean isJava) {
        this.process = process;
        this.isJava = isJava;
    }

    /** A member with this build's kafka-clients. */
    static GroupProcess currentJava(
            String name, String bootstrap, String group, String topic, Path logs, Deliveries deliveries)
            throws IOException {
        return java(name, System.getProperty("java.class.path"), bootstrap, group, topic, logs, deliveries);
    }

    /** A member with kafka-clients 3.9 and nothing of this build but the program itself. */
    static GroupProcess olderJava(
            String name, String bootstrap, String group, String topic, Path logs, Deliveries deliveries)
            throws IOException {
        return java(name, OlderClients.classPath("3.9"), bootstrap, group, topic, logs, deliveries);
    }

    private static GroupProcess java(
            String name,
            String classPath,
            String bootstrap,
            String group,
            String topic,
            Path logs,
            Deliveries deliveries)
            throws IOException {
        List<String> command =
                JavaProgram.command("128m", classPath, List.of(GroupMember.class.getName(), bootstrap, group, topic));
        return new GroupProcess(
                ChildProcess.start(name, command, "assigned", logs.resolve(name + ".log"), deliveries::onLine), true);
    }

    /** A kcat, if this machine has one. */
    static Optional<GroupProcess> kcat(
            String name, String bootstrap, String group, String topic, Path logs, Deliveries deliveries)
            throws IOException {
        Optional<Path> kcat = Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                .map(directory -> Path.of(directory, "kcat"))
                .filter(Files::isExecutable)
                .findFirst();
        if (kcat.isEmpty()) {
            return Optional.empty();
        }
        List<String> command = List.of(
                kcat.get().toString(),
                "-b",
                bootstrap,
                "-X",
                "auto.offset.reset=earliest",
                "-X",
                "partition.assignment.strategy=range",
                "-u",
                "-f",
                "record %p %o\\n",
                "-G",
                group,
                topic);
        return Optional.of(new GroupProcess(
                ChildProcess.start(name, command, "assigned", logs.resolve(name + ".log"), deliveries::onLine), false));
    }

    /** Waits until it has partitions. */
    void awaitAssigned(Duration timeout) throws Exception {
        process.ready().get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Leaves the group in an orderly way, and waits until it has. */
    void leave(Duration timeout) {
        if (isJava) {
            process.closeInput();
        } else {
            process.terminate();
        }
        if (process.awaitExit(timeout).isEmpty()) {
            throw new AssertionError(process.name() + " did not leave within " + timeout + ":\n"
                    + String.join("\n", process.lastLines()));
        }
    }

    @Override
    public void close() {
        process.close();
    }
}
