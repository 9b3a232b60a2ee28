package io.varve.tiering.core;

import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectRef;
import java.util.Iterator;
import java.util.Optional;

/**
 * How much of what a manifest names is in the bucket: both are gone through side by side, in the order of keys, which within a partition is that of the offsets at which objects begin. So neither has to be in memory. One thread.
 */
public final class ManifestCover {

    private final ManifestRef manifest;
    private final Iterator<ObjectRef> named;
    private Optional<ObjectRef> next;
    private long fromOffset;
    private long objects;

    /**
     * @param named what it names, in the order of keys
     */
    public ManifestCover(ManifestRef manifest, Iterator<ObjectRef> named) {
        this.manifest = manifest;
        this.named = named;
        this.fromOffset = manifest.startOffset();
        this.next = following();
    }

    /** Whether an object that begins there is the manifest's to name; what begins behind it is the chain's. */
    public boolean covers(long startOffset) {
        return startOffset < manifest.endOffset();
    }

    /**
     * The next object of the partition in the bucket.
     *
     * @return whether the manifest names it. One that begins in what the manifest covers and isn't named by it can hold what follows there, for the chain or compaction left a part of it
     */
    public boolean onListed(String key, long length) {
        while (next.isPresent() && next.get().key().compareTo(key) < 0) {
            miss();
        }
        boolean isNamed = next.isPresent() && next.get().key().equals(key);
        if (isNamed) {
            objects++;
            if (next.get().length() == length) {
                next = following();
            } else {
                miss();
            }
        }
        return isNamed;
    }

    /** The bucket has no more of it. */
    public void onEnd() {
        while (next.isPresent()) {
            miss();
        }
    }

    /** From this offset on everything that the manifest names is there; its end if nothing is. */
    public long fromOffset() {
        return Math.min(fromOffset, manifest.endOffset());
    }

    /** How many of those listed it names. */
    public long objects() {
        return objects;
    }

    private void miss() {
        fromOffset = Math.max(fromOffset, next.get().endOffset());
        next = following();
    }

    private Optional<ObjectRef> following() {
        return named.hasNext() ? Optional.of(named.next()) : Optional.empty();
    }
}
