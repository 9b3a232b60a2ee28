/** The segment store: replicas of segments on the bookie's own disks, and what may be asked of them. */
package io.varve.bookie.store;
