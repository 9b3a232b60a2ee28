package io.varve.tiering.object;

import io.varve.tiering.testing.MemoryObjectStore;

/** The twin keeps the contract too, or tests on it would prove nothing. */
class MemoryObjectStoreTest extends ObjectStoreContract {

    @Override
    ObjectStore open() {
        return new PrefixedObjectStore(new MemoryObjectStore(), "some/prefix");
    }
}
