package io.varve.cli.admin;

import io.varve.tiering.client.Tiering;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Option;

/** How an operator's command that needs no metadata finds the object store: the {@code tiering.} keys of a bookie's or broker's file, or {@code --set}. */
public final class TieringOptions {

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "A bookie's or broker's configuration file: its tiering keys.")
    private Path file;

    @Option(names = "--set", paramLabel = "KEY=VALUE", description = "Sets a tiering key, over what the file says.")
    private Map<String, String> overrides = new TreeMap<>();

    /** A store that somebody wrote to. The caller closes it. */
    Tiering open() {
        return open("", Map.of());
    }

    /** A store that may be new. The caller closes it. */
    Tiering openNew() {
        return new StoreKeys(file, overrides).openNew();
    }

    /**
     * A store that somebody wrote to. The caller closes it.
     *
     * @param bucketId what the keys of the cluster's objects begin with
     * @param more keys that go before all others
     */
    public Tiering open(String bucketId, Map<String, String> more) {
        Map<String, String> set = new TreeMap<>(overrides);
        set.putAll(more);
        return new StoreKeys(file, set).open(bucketId);
    }
}
