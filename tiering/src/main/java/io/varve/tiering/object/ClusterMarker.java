package io.varve.tiering.object;

import io.varve.base.StartupException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Whose prefix it is. Each cluster leaves a mark of its own under {@code clusters/}, looks again after it wrote, and goes away if it isn't
 * alone: of two that come at once at least one sees the other, without conditional writes, which most stores don't keep under a race. No
 * object is ever shared by two clusters anyway, since every key begins with the cluster's id; the mark keeps one cluster's scrubber and
 * one operator's deletion from meeting another's data.
 */
public final class ClusterMarker {

    private static final String DIRECTORY = "clusters/";
    private static final String SUFFIX = ".mark";
    private static final int PAGE = 100;

    private final ObjectStore store;
    private final String clusterId;

    /** @param store below the cluster's prefix */
    public ClusterMarker(ObjectStore store, String clusterId) {
        this.store = store;
        this.clusterId = clusterId;
    }

    /**
     * Claims the prefix for this cluster; does nothing but look if it is ours already.
     *
     * @param token tells two clusters of one id apart for people: kept in the mark, never overwritten
     * @return fails with {@link StartupException} NO_BUCKET if another cluster is there, else with {@link StoreException}
     */
    public CompletableFuture<Void> claim(String token) {
        return clusters().thenCompose(present -> {
            refuseOthers(present);
            if (present.contains(clusterId)) {
                return CompletableFuture.completedFuture(null);
            }
            String text = "varve-cluster 1\ncluster=" + clusterId + "\ntoken=" + token + "\n";
            return store.put(key(), ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)))
                    .thenCompose(written -> clusters())
                    .thenCompose(now -> leaveUnlessAlone(now));
        });
    }

    /** The ids of the clusters that left a mark. */
    public CompletableFuture<List<String>> clusters() {
        return store.list(DIRECTORY, Optional.empty(), PAGE).thenApply(page -> {
            List<String> ids = new ArrayList<>();
            for (ObjectStore.Stat mark : page.items()) {
                String name = mark.key().substring(DIRECTORY.length());
                if (name.endsWith(SUFFIX)) {
                    ids.add(name.substring(0, name.length() - SUFFIX.length()));
                }
            }
            return ids;
        });
    }

    private CompletableFuture<Void> leaveUnlessAlone(List<String> present) {
        boolean alone = present.stream().allMatch(clusterId::equals);
        return alone
                ? CompletableFuture.completedFuture(null)
                : store.delete(key()).thenAccept(gone -> refuseOthers(present));
    }

    private void refuseOthers(List<String> present) {
        for (String other : present) {
            if (!other.equals(clusterId)) {
                throw new StartupException(
                        StartupException.Reason.NO_BUCKET,
                        store.describe() + " belongs to cluster " + other + ", not to " + clusterId
                                + ": give this cluster a tiering.prefix of its own");
            }
        }
    }

    private String key() {
        return DIRECTORY + clusterId + SUFFIX;
    }
}
