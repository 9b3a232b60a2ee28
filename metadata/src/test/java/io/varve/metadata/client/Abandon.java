package io.varve.metadata.client;

/** Lets tests end a client as a killed process would. */
public final class Abandon {

    private Abandon() {}

    /** No last words: the connection just ends. */
    public static void of(RemoteMetadataClient client) {
        client.abandon();
    }
}
