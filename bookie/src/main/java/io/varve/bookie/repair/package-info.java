/** A bookie's work on its own replicas: copying from others, deleting, sealing, confirming, and reporting damage. */
package io.varve.bookie.repair;
