package io.varve.tiering.client;

import io.varve.tiering.object.StoreException;
import java.util.Optional;

/** What a store said to whoever asked it for a person. */
public final class StoreTrouble {

    private StoreTrouble() {}

    /** The one line that says all there is to say of a failure; empty if it isn't a store's own. */
    public static Optional<String> line(Throwable failure) {
        return failure instanceof StoreException ? Optional.of(failure.getMessage()) : Optional.empty();
    }
}
