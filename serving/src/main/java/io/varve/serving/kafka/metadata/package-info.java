/** Varve's metadata in the form in which Kafka's coordinators read it. */
package io.varve.serving.kafka.metadata;
