package io.varve.metadata.core;

import io.varve.base.BookieId;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BrokerInfo;
import org.pcollections.TreePMap;
import org.pcollections.TreePSet;

/**
 * The nodes by id. Immutable.
 *
 * @param brokers registered at any time
 * @param bookies registered at any time and not removed
 * @param drainWanted bookies that an operator wants emptied, whether they live or not
 */
record NodeIndex(
        TreePMap<Integer, BrokerInfo> brokers, TreePMap<BookieId, BookieInfo> bookies, TreePSet<BookieId> drainWanted) {

    static final NodeIndex EMPTY = new NodeIndex(TreePMap.empty(), TreePMap.empty(), TreePSet.empty());

    NodeIndex with(BrokerInfo broker) {
        return new NodeIndex(brokers.plus(broker.id(), broker), bookies, drainWanted);
    }

    NodeIndex with(BookieInfo bookie, boolean drain) {
        TreePSet<BookieId> wanted = drain ? drainWanted.plus(bookie.id()) : drainWanted.minus(bookie.id());
        return new NodeIndex(brokers, bookies.plus(bookie.id(), bookie), wanted);
    }

    NodeIndex without(BookieId bookie) {
        return new NodeIndex(brokers, bookies.minus(bookie), drainWanted.minus(bookie));
    }
}
