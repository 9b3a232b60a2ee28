/** Validation of the record batches that producers send. Adapter to Kafka's own validator, with a path of its own for the common case. */
package io.varve.serving.kafka.record;
