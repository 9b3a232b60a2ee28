package io.varve.tiering.manifest;

import io.varve.base.PartitionId;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectKeys;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.api.RemoteReadException.Kind;
import io.varve.tiering.core.ManifestLeaf;
import io.varve.tiering.core.ManifestRoot;
import io.varve.tiering.core.ObjectFormatException;
import io.varve.tiering.core.Sections;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.read.ObjectReads;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Fetches roots and leaves and checks that they are the ones that are meant. */
final class ManifestReads {

    private static final int ROOT_BYTES_MAX = 64 * 1024 * 1024;

    private final ObjectStore store;
    private final String clusterId;

    ManifestReads(ObjectStore store, String clusterId) {
        this.store = store;
        this.clusterId = clusterId;
    }

    CompletableFuture<ManifestRoot> root(ManifestRef ref, PartitionId partition) {
        if (ref.length() <= 0 || ref.length() > ROOT_BYTES_MAX) {
            return CompletableFuture.failedFuture(
                    new RemoteReadException(Kind.CORRUPT, ref.key() + ": a root of " + ref.length() + " bytes", null));
        }
        return fetch(ref.key(), (int) ref.length(), ref.crc32c()).thenApply(bytes -> {
            ManifestRoot root = decoded(ref.key(), () -> ManifestRoot.decode(bytes));
            boolean same = root.partition().equals(partition)
                    && root.generation() == ref.generation()
                    && !root.leaves().isEmpty()
                    && root.leaves().get(0).startOffset() <= ref.startOffset()
                    && root.leaves().get(0).endOffset() > ref.startOffset()
                    && root.leaves().get(root.leaves().size() - 1).endOffset() == ref.endOffset();
            return require(same, ref.key(), root);
        });
    }

    CompletableFuture<ManifestLeaf> leaf(ManifestRoot.Leaf leaf, PartitionId partition) {
        String key = keyOf(leaf, partition);
        return fetch(key, leaf.length(), leaf.crc()).thenApply(bytes -> {
            ManifestLeaf decoded = decoded(key, () -> ManifestLeaf.decode(bytes, clusterId));
            boolean same = decoded.partition().equals(partition)
                    && decoded.startOffset() == leaf.startOffset()
                    && decoded.endOffset() == leaf.endOffset();
            return require(same, key, decoded);
        });
    }

    /** The key of a root's leaf. */
    String keyOf(ManifestRoot.Leaf leaf, PartitionId partition) {
        return ObjectKeys.manifestLeaf(clusterId, partition, leaf.generation(), leaf.number());
    }

    /**
     * What a future ends with. Blocks.
     *
     * @throws RemoteReadException if it fails, of the kind that it failed with
     */
    static <T> T joined(String key, CompletableFuture<T> future) {
        try {
            return future.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof Error fault) {
                throw fault;
            }
            throw ObjectReads.failed(key, e);
        }
    }

    private CompletableFuture<ByteBuffer> fetch(String key, int length, int crc) {
        return store.get(key, 0, length)
                .exceptionallyCompose(failure -> CompletableFuture.failedFuture(ObjectReads.failed(key, failure)))
                .thenApply(bytes -> require(Sections.crc(bytes) == crc, key, bytes));
    }

    private static <T> T require(boolean same, String key, T value) {
        if (!same) {
            throw new RemoteReadException(Kind.CORRUPT, key + " is another manifest than the one that is meant", null);
        }
        return value;
    }

    private interface Decoding<T> {
        T run() throws ObjectFormatException;
    }

    private static <T> T decoded(String key, Decoding<T> decoding) {
        try {
            return decoding.run();
        } catch (ObjectFormatException e) {
            throw ObjectReads.malformed(key, e);
        }
    }
}
