/** {@code varve bench}: what a cluster does, seen through the stock client. */
package io.varve.cli.bench;
