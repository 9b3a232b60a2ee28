package io.varve.metadata.api;

/** Told of every new version that reaches this process. */
@FunctionalInterface
public interface MetadataListener {

    /**
     * The metadata went from one version to a later one. Called on the client's own thread, one call at a time, in order; must not block.
     * Changes may be folded: {@code after} can be many versions past {@code before}.
     *
     * @param delta what may differ between the two; nothing outside it does
     */
    void onChange(MetadataView before, MetadataView after, MetadataDelta delta);
}
