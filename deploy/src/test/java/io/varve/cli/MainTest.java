package io.varve.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.StartupException.Reason;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MainTest {

    @Test
    void helpAndVersionSucceedForEveryCommand() {
        assertThat(Main.execute("--help")).isZero();
        assertThat(Main.execute("--version")).isZero();
        assertThat(Main.execute("bench", "--help")).isZero();
    }

    @Test
    void helpIsOfTheCommandThatAllWordsName() {
        assertThat(helpOf()).contains("Usage: varve ", "bucket");
        assertThat(helpOf("bucket")).contains("Usage: varve bucket ", "scrub");
        assertThat(helpOf("bucket", "scrub"))
                .contains("Usage: varve bucket scrub ", "--delete")
                .isEqualTo(helpOf("--of", "bucket", "scrub"));
        assertThat(said(2, "help", "bucket", "flood")).contains("varve bucket has no command 'flood'");
        assertThat(said(2, "help", "status", "now")).contains("varve status has no command 'now'");
    }

    /** What {@code varve help} says, or the command's own {@code --help} if the first word is {@code --of}. */
    private static String helpOf(String... words) {
        List<String> arguments = new ArrayList<>(List.of(words));
        if (arguments.remove("--of")) {
            arguments.add("--help");
        } else {
            arguments.add(0, "help");
        }
        StringWriter out = new StringWriter();
        assertThat(Main.execute(
                        new PrintWriter(out, true),
                        new PrintWriter(System.err, true),
                        arguments.toArray(String[]::new)))
                .isZero();
        return out.toString();
    }

    @Test
    void noCommandAnUnknownCommandAndAnUnknownOptionAreUsageErrors() {
        assertThat(Main.execute()).isEqualTo(2);
        assertThat(Main.execute("flood")).isEqualTo(2);
        assertThat(Main.execute("bench", "--flood")).isEqualTo(2);
        assertThat(Main.execute("bench", "--size", "3")).isEqualTo(2);
    }

    @Test
    void aDirectoryThatCanBeUsedAsABucketIsSaidToBeSound(@TempDir Path directory) {
        assertThat(Main.execute("bucket", "check", "--set", "tiering.local.dir=" + directory))
                .isZero();
    }

    @Test
    void aBucketThatCannotBeUsedEndsWithItsOwnCodeAndAWrongKeyWithTwo(@TempDir Path directory) throws IOException {
        Path file = Files.createFile(directory.resolve("file"));
        assertThat(Main.execute("bucket", "check", "--set", "tiering.local.dir=" + file.resolve("bucket")))
                .isEqualTo(Reason.NO_BUCKET.exitCode());
        assertThat(Main.execute("bucket", "check", "--set", "tiering.stoer=s3"))
                .isEqualTo(Reason.BAD_CONFIG.exitCode());
    }

    /** A slip in a path, or a file system that isn't mounted, must not look like a bucket that lost everything. */
    @Test
    void whoOnlyLooksMakesNoBucketOfADirectory(@TempDir Path directory) {
        Path slip = directory.resolve("buket");
        assertThat(said(Reason.NO_BUCKET, "object", "inspect", "key", "--set", "tiering.local.dir=" + slip))
                .contains("There is no store in the directory " + slip, "the command line");
        assertThat(said(Reason.NO_BUCKET, "restore", "--from", "file:" + slip, "--dry-run"))
                .contains(slip.toString());
        assertThat(slip).doesNotExist();
    }

    @Test
    void whatIsNoKeyIsAUsageErrorAndAKeyMayHaveItsPrefix(@TempDir Path directory) {
        String bucket = "tiering.local.dir=" + bucket(directory);
        assertThat(said(Reason.BAD_CONFIG, "object", "verify", "/key", "--set", bucket))
                .contains("/key is no key");
        assertThat(said(1, "object", "verify", "varve/key", "--set", bucket)).contains("verify: key is not there");
        assertThat(said(1, "object", "verify", "key", "--set", bucket)).contains("verify: key is not there");
    }

    @Test
    void aRestoreThatFindsNothingChangesNothing(@TempDir Path directory) {
        Path bucket = bucket(directory);
        Path into = directory.resolve("metadata");
        String[] restore = {"restore", "--from", "file:" + bucket, "--into", into.toString(), "--cluster", "none"};
        assertThat(said(1, restore)).contains("has nothing of cluster none", "Nothing was changed");
        assertThat(into).doesNotExist();
        assertThat(bucket.resolve("objects/varve")).doesNotExist();
    }

    @Test
    void aRestoreNeedsAnEmptyDirectoryOrNoneForADryRun(@TempDir Path directory) throws IOException {
        Path bucket = bucket(directory);
        Path full = Files.createDirectory(directory.resolve("full"));
        Files.createFile(full.resolve("thesis.tex"));
        assertThat(said(Reason.DIRECTORY_FOREIGN, "restore", "--from", "file:" + bucket, "--into", full.toString()))
                .contains("thesis.tex");
        assertThat(said(2, "restore", "--from", "file:" + bucket)).contains("--into");
        assertThat(said(1, "restore", "--from", "file:" + bucket, "--dry-run")).contains("no cluster's mark");
        assertThat(said(
                        Reason.BAD_CONFIG,
                        "restore",
                        "--from",
                        "file:" + bucket,
                        "--dry-run",
                        "--replication-factor",
                        "1"))
                .contains("--min-insync-replicas 2");
    }

    @Test
    void aStoreThatDoesNotAnswerIsToldInOneLine() {
        String said = said(
                1,
                "restore",
                "--from",
                "s3://bucket/prefix",
                "--dry-run",
                "--set",
                "tiering.s3.endpoint=http://127.0.0.1:1",
                "--set",
                "tiering.s3.access.key=a",
                "--set",
                "tiering.s3.secret.key=b",
                "--set",
                "tiering.retry.ms=0");
        assertThat(said).startsWith("varve restore: LIST prefix/clusters/").hasLineCount(1);
    }

    /** The same file as the cluster's processes have: nobody has to repeat what stands in it. */
    @Test
    void theMetadataNodesAreThoseOfTheConfigurationFileUnlessOthersAreNamed(@TempDir Path directory)
            throws IOException {
        Path file = directory.resolve("bookie.properties");
        Files.writeString(file, "bookie.id=1\nmetadata.servers=7@127.0.0.1:1\n");
        String[] status = {"status", "--config", file.toString(), "--timeout-ms", "100"};
        assertThat(said(Reason.NO_QUORUM, status)).contains("[7@127.0.0.1:1]");
        assertThat(said(
                        Reason.NO_QUORUM,
                        "status",
                        "--config",
                        file.toString(),
                        "--metadata",
                        "8@127.0.0.1:1",
                        "--timeout-ms",
                        "100"))
                .contains("[8@127.0.0.1:1]");
        Files.writeString(file, "metadata.servers=here\n");
        assertThat(said(Reason.BAD_CONFIG, status)).contains("metadata.servers", file.toString());
        assertThat(said(
                        Reason.BAD_CONFIG,
                        "status",
                        "--config",
                        directory.resolve("none").toString()))
                .contains("There is no configuration file");
    }

    @Test
    void numbersOutOfRangeAreUsageErrorsBeforeAnythingIsAsked(@TempDir Path directory) {
        assertThat(said(Reason.BAD_CONFIG, "status", "--timeout-ms", "0")).contains("--timeout-ms 0");
        assertThat(said(Reason.BAD_CONFIG, "bucket", "scrub", "--grace-hours", "-1"))
                .contains("--grace-hours -1");
        Path data = directory.resolve("data");
        assertThat(said(Reason.BAD_CONFIG, "standalone", "--port", "70000", "--data-dir", data.toString()))
                .contains("--port 70000");
        assertThat(said(Reason.BAD_CONFIG, "standalone", "--internal-port", "65533", "--data-dir", data.toString()))
                .contains("--internal-port 65533");
        assertThat(data).doesNotExist();
    }

    /** A directory that is a store, with nothing in it. */
    private static Path bucket(Path directory) {
        Path bucket = directory.resolve("bucket");
        assertThat(Main.execute("bucket", "check", "--set", "tiering.local.dir=" + bucket))
                .isZero();
        return bucket;
    }

    private static String said(Reason reason, String... arguments) {
        return said(reason.exitCode(), arguments);
    }

    /** What a command that ends with a code says at its standard error. */
    private static String said(int exitCode, String... arguments) {
        StringWriter err = new StringWriter();
        assertThat(Main.execute(new PrintWriter(err, true), arguments))
                .as(err.toString())
                .isEqualTo(exitCode);
        return err.toString().strip();
    }
}
