/**
 * How Kafka's coordinator runtime lives on a partition of ours: elections, loading, writing, and what must happen when a write is lost.
 * Shared by the coordinators of groups and of transactions.
 */
package io.varve.serving.kafka.runtime;
