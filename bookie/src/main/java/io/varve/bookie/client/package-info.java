/** How brokers, and other bookies, use a bookie. */
package io.varve.bookie.client;
