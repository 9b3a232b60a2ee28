/** Chain manifests in the bucket: looked up by brokers, written and compacted by a bookie. */
package io.varve.tiering.manifest;
