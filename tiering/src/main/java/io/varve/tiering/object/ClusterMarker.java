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
 * object is ever shared by two clusters anyway, since every key begins with a cluster's id; the mark keeps one cluster's scrubber and
 * one operator's deletion from meeting another's data.
 *
 * <p>A cluster that was restored goes on with the keys of the one that wrote there first, and names itself in that one's mark as the owner: what is left of the old cluster finds
 * another there, and is refused.
 */
public final class ClusterMarker {

    private static final String DIRECTORY = "clusters/";
    private static final String SUFFIX = ".mark";
    private static final String OWNER = "owner=";
    private static final int PAGE = 100;
    private static final long MARK_BYTES_MAX = 64 * 1024;

    private final ObjectStore store;
    private final String bucketId;
    private final String clusterId;

    /**
     * @param store below the cluster's prefix
     * @param bucketId what the keys of the cluster's objects begin with
     * @param clusterId the cluster's own; the same unless it was restored
     */
    public ClusterMarker(ObjectStore store, String bucketId, String clusterId) {
        this.store = store;
        this.bucketId = bucketId;
        this.clusterId = clusterId;
    }

    /**
     * Claims the prefix for this cluster; does nothing but look if it is ours already.
     *
     * @param token tells two clusters of one id apart for people: kept in the mark
     * @param known the key of an object that the cluster has, if any: where neither the mark nor that is, its objects are elsewhere
     * @return fails with {@link StartupException} NO_BUCKET if another cluster is there, or if it isn't the cluster's bucket, else with {@link StoreException}
     */
    public CompletableFuture<Void> claim(String token, Optional<String> known) {
        return clusters().thenCompose(present -> {
            refuseOthers(present);
            if (present.contains(bucketId)) {
                return owner().thenAccept(this::refuseOther);
            }
            return checkHolds(known, " With tiering.check.at.start=false it is begun anew")
                    .thenCompose(holds -> write(token))
                    .thenCompose(written -> clusters())
                    .thenCompose(this::leaveUnlessAlone);
        });
    }

    /**
     * Looks whether it is this cluster's bucket, for whoever only reads it; leaves no mark.
     *
     * @param known the key of an object that the cluster has, if any
     * @return fails like {@link #claim}
     */
    public CompletableFuture<Void> checkHeld(Optional<String> known) {
        return clusters().thenCompose(present -> {
            refuseOthers(present);
            return present.contains(bucketId) ? owner().thenAccept(this::refuseOther) : checkHolds(known, "");
        });
    }

    /**
     * Looks whether the objects are still this cluster's.
     *
     * @return fails with {@link StoreException}: REFUSED if another cluster took them over or there is no mark, or whatever keeps it from being known
     */
    public CompletableFuture<Void> checkOurs() {
        return owner().thenAccept(owner -> {
            if (!owner.equals(clusterId)) {
                throw new StoreException(
                        StoreException.Kind.REFUSED,
                        store.describe() + " was taken over by cluster " + owner + ": " + clusterId
                                + " writes and deletes nothing in it any more");
            }
        });
    }

    /** Takes the mark, and with it the objects, over for this cluster from one that is no more. */
    public CompletableFuture<Void> takeOver(String token) {
        return write(token);
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

    /** A bookie with another bucket than the others would upload where nobody reads, and an operator would be told that everything is lost. */
    private CompletableFuture<Void> checkHolds(Optional<String> known, String otherwise) {
        if (known.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        return store.head(known.get()).thenAccept(found -> {
            if (found.isEmpty()) {
                throw new StartupException(
                        StartupException.Reason.NO_BUCKET,
                        store.describe()
                                + " is another bucket, prefix or directory than before, or not mounted: it has neither the mark of cluster "
                                + clusterId + " nor its object " + known.get() + "." + otherwise);
            }
        });
    }

    /** Whose the mark is; its own if it says nothing else. Where there is none nothing is known of whose the bucket is, whatever is listed. */
    private CompletableFuture<String> owner() {
        return store.head(key()).thenCompose(stat -> {
            if (stat.isEmpty()) {
                throw new StoreException(
                        StoreException.Kind.REFUSED,
                        store.describe() + " has no mark " + key() + " any more: is it another bucket or directory than"
                                + " before, or not mounted?");
            }
            long length = stat.get().length();
            if (length > MARK_BYTES_MAX) {
                throw new StoreException(StoreException.Kind.REFUSED, key() + " has " + length + " bytes: no mark");
            }
            return length == 0
                    ? CompletableFuture.completedFuture(bucketId)
                    : store.get(key(), 0, (int) length).thenApply(this::ownerIn);
        });
    }

    private String ownerIn(ByteBuffer mark) {
        for (String line : StandardCharsets.UTF_8.decode(mark).toString().split("\n")) {
            if (line.startsWith(OWNER)) {
                return line.substring(OWNER.length());
            }
        }
        return bucketId;
    }

    private CompletableFuture<Void> write(String token) {
        String owner = clusterId.equals(bucketId) ? "" : OWNER + clusterId + "\n";
        String text = "varve-cluster 1\ncluster=" + bucketId + "\ntoken=" + token + "\n" + owner;
        return store.put(key(), ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }

    private CompletableFuture<Void> leaveUnlessAlone(List<String> present) {
        boolean alone = present.stream().allMatch(bucketId::equals);
        return alone
                ? CompletableFuture.completedFuture(null)
                : store.delete(key()).thenAccept(gone -> refuseOthers(present));
    }

    private void refuseOthers(List<String> present) {
        for (String other : present) {
            if (!other.equals(bucketId)) {
                refuse(other);
            }
        }
    }

    private void refuseOther(String owner) {
        if (owner.equals(clusterId)) {
            return;
        }
        String why = owner.equals(bucketId)
                ? " is still that of cluster " + owner + ": the restoration to " + clusterId
                        + " did not end. Restore again, into an empty directory"
                : " was taken over by cluster " + owner + ", which was restored from it: " + clusterId
                        + " can't use it any more";
        throw new StartupException(StartupException.Reason.NO_BUCKET, store.describe() + why);
    }

    private void refuse(String other) {
        throw new StartupException(
                StartupException.Reason.NO_BUCKET,
                store.describe() + " belongs to cluster " + other + ", not to " + clusterId
                        + ": give this cluster a tiering.prefix of its own");
    }

    private String key() {
        return DIRECTORY + bucketId + SUFFIX;
    }
}
