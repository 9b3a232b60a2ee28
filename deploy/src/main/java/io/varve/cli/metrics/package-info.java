/** Metrics for Prometheus. */
package io.varve.cli.metrics;
