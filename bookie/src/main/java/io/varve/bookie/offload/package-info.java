/** A bookie's work for object storage: uploading sealed segments from its own disk, and deleting objects. */
package io.varve.bookie.offload;
