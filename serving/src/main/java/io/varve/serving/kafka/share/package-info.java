/** Kafka's share coordinator on our logs and metadata, and the way to it from every broker. */
package io.varve.serving.kafka.share;
