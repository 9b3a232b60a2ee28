/**
 * The simulation kit: virtual time, seeded chance, processes that crash and pause, a network that loses and delays. Test code, shared by all
 * modules as this module's test jar. One seed is one run: nothing here, or in what it drives, may read a clock, start a thread, or iterate in an
 * order that the seed does not fix.
 */
package io.varve.sim;
