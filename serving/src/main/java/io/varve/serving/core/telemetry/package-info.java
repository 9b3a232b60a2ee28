/** Which client reports which of its metrics, and how often (KIP-714). Pure: time is handed in. */
package io.varve.serving.core.telemetry;
