/** What the consumers of a share group have of a partition (KIP-932): deliveries, locks, and sessions. Pure: time is handed in. */
package io.varve.serving.core.share;
