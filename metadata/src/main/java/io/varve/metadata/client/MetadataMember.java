package io.varve.metadata.client;

import java.util.Objects;

/**
 * A node of the metadata service.
 *
 * @param id its number
 * @param host for both ports
 * @param raftPort where the other nodes reach it
 * @param clientPort where clients reach it
 */
public record MetadataMember(int id, String host, int raftPort, int clientPort) {
    public MetadataMember {
        Objects.requireNonNull(host, "host");
    }
}
