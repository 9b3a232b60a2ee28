/** Kafka's group coordinator on our logs and metadata. */
package io.varve.serving.kafka.group;
