/** The bookie as a process: its configuration, and how its parts are put together, started and stopped. */
package io.varve.bookie.server;
