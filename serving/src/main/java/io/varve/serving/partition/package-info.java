/**
 * The partitions that this broker owns: event loops around the pure cores of {@code core.partition}, and what their effects become at the
 * bookies, the metadata service and object storage.
 */
package io.varve.serving.partition;
