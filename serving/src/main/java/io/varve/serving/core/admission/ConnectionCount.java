package io.varve.serving.core.admission;

import java.util.TreeMap;

/**
 * Counts connections against their limits, in total and for each address. A connection over a limit is counted too: it may still ask for
 * the versions (no client may take us for an ancient broker, P3 of the user reports), and nothing else.
 *
 * <p>Single owner at a time: the caller serializes.
 */
public final class ConnectionCount {

    private final int connectionsMax;
    private final int perAddressMax;
    private final TreeMap<String, Integer> byAddress = new TreeMap<>();
    private int total;

    /**
     * @param connectionsMax in total
     * @param perAddressMax from one address
     */
    public ConnectionCount(int connectionsMax, int perAddressMax) {
        this.connectionsMax = connectionsMax;
        this.perAddressMax = perAddressMax;
    }

    /** Counts a connection from {@code address} in. Answers whether it is within the limits. */
    public boolean onOpen(String address) {
        total++;
        int fromThere = byAddress.merge(address, 1, Integer::sum);
        return total <= connectionsMax && fromThere <= perAddressMax;
    }

    /** Counts it out. */
    public void onClose(String address) {
        total--;
        byAddress.computeIfPresent(address, (ignored, count) -> count == 1 ? null : count - 1);
    }

    /** Open connections. */
    public int total() {
        return total;
    }
}
