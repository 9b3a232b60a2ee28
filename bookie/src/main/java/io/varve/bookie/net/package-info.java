/** The bookie on the network: what comes in by the internal RPC is asked of the segment store, and its answers go back. */
package io.varve.bookie.net;
