/** The transaction coordinator: the rules of {@code core.txn} on Kafka's coordinator runtime, its record format and its markers. */
package io.varve.serving.kafka.txn;
