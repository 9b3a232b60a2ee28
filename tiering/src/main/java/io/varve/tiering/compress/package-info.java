/** Compression of blocks, by a library. */
package io.varve.tiering.compress;
