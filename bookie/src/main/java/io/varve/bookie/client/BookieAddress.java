package io.varve.bookie.client;

import io.varve.base.BookieId;
import java.util.Objects;

/**
 * Which bookie, and where to find it at the moment. The id is what counts; a bookie that answers at the address with another id is
 * refused by the client.
 */
public record BookieAddress(BookieId id, String host, int port) {
    public BookieAddress {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(host, "host");
    }
}
