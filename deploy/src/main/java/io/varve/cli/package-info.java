/** The {@code varve} command: the composition root of every role, and what people do with a cluster from a terminal. */
package io.varve.cli;
