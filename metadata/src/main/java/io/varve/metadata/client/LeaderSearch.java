package io.varve.metadata.client;

import io.varve.base.Randomness;
import io.varve.protocol.config.NodeAddress;
import io.varve.protocol.meta.NotLeaderProto;
import java.util.ArrayList;
import java.util.List;

/**
 * Whom a client that looks for the leader asks next, and how long it waits before. It does nothing itself. One owner.
 *
 * <p>While a leader is elected nobody can say who it is, and that takes seconds. What a client adds to them is the time until it asks again: each pause is an eighth of those before it, together, so that no more than so
 * much is added, and an outage of hours is no flood of questions. Half of a pause is chance, for all clients lose a leader at once. Who says who leads is believed at once, but not when that is whom we
 * last got no answer from: followers go on naming a leader that stands still until they elect another.
 */
final class LeaderSearch {

    static final long PAUSE_MS_MIN = 20;
    static final long PAUSE_MS_MAX = 500;
    private static final int SHARE = 8;

    private static final int NOBODY = -1;

    private final List<NodeAddress> known;
    private final Randomness randomness;
    private int turn;
    private int hops;
    private int silentId = NOBODY;
    private long pausedMs;

    /** @param servers those that are known from the configuration, at least one */
    LeaderSearch(List<NodeAddress> servers, Randomness randomness) {
        this.known = new ArrayList<>(servers);
        this.randomness = randomness;
    }

    /** Whom to ask, and after how long. */
    record Step(NodeAddress node, long pauseMs) {}

    /** The first of all. */
    NodeAddress first() {
        return known.get(0);
    }

    /** A leader was found. */
    void onFound() {
        hops = 0;
        pausedMs = 0;
        silentId = NOBODY;
    }

    /** A node was asked, and didn't answer in time. */
    void onSilent(int nodeId) {
        silentId = nodeId;
    }

    /** @param hint what the node that was asked last said of who leads; empty if it said nothing */
    Step next(NotLeaderProto hint) {
        boolean isHinted = hint.hasLeaderId() && hint.getPort() > 0 && hint.getLeaderId() != silentId;
        NodeAddress node = isHinted ? learn(hint) : known.get(Math.floorMod(++turn, known.size()));
        // Nodes that name each other are asked in a circle, but not without end.
        if (isHinted && hops < known.size()) {
            hops++;
            return new Step(node, 0);
        }
        hops = 0;
        int most = (int) Math.max(PAUSE_MS_MIN, Math.min(PAUSE_MS_MAX, pausedMs / SHARE));
        long pauseMs = most / 2 + randomness.nextInt(most / 2 + 1);
        pausedMs += pauseMs;
        return new Step(node, pauseMs);
    }

    /** The node that a hint names, remembered if it is a new one. The configured address counts for one that is known. */
    private NodeAddress learn(NotLeaderProto hint) {
        for (NodeAddress node : known) {
            if (node.id() == hint.getLeaderId()) {
                return node;
            }
        }
        NodeAddress added = new NodeAddress(hint.getLeaderId(), hint.getHost(), hint.getPort());
        known.add(added);
        return added;
    }
}
