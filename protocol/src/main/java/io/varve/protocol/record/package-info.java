/** The form of Kafka's record batches (version 2), as far as Varve reads or patches it itself. Pure. */
package io.varve.protocol.record;
