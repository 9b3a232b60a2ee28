/**
 * A whole cluster in one thread: the real owners (loops, cores, takeover, reads) and the real metadata state machine, over simulated bookies,
 * network and clocks, judged by oracles that share no code with them.
 */
package io.varve.itest.sim;
