/** Copies of the metadata in the bucket. */
package io.varve.tiering.backup;
