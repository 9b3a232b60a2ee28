/**
 * The ports to the coordinators of groups and transactions: Kafka's request messages in, its response messages out. Request handlers know
 * these and nothing of how a coordinator works; the adapters behind them are in {@code io.varve.serving.kafka}.
 */
package io.varve.serving.coordinator;
