package io.varve.cli.admin;

import io.varve.metadata.api.MetadataView;
import io.varve.tiering.client.Tiering;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Option;

/** How an operator's command finds the cluster and its object store: both by one configuration file, or each by options. */
final class ClusterOptions extends MetadataOptions {

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "Sets a tiering key, over what the configuration file says.")
    private Map<String, String> overrides = new TreeMap<>();

    /**
     * The store that the cluster's objects are in. The caller closes it.
     *
     * @param view of the cluster
     * @throws io.varve.base.StartupException BAD_CONFIG, or NO_BUCKET if it is another one: there everything would seem to be lost
     * @throws io.varve.tiering.object.StoreException if the store does not tell
     */
    Tiering openStore(MetadataView view) {
        Tiering store = new StoreKeys(file(), overrides).open(view.bucketId());
        try {
            store.checkHeld(view.clusterId(), Tiering.newestKey(view));
            return store;
        } catch (RuntimeException e) {
            store.close();
            throw e;
        }
    }
}
