/** Uploads of sealed segments: streamed in bounded memory, read back, verified. */
package io.varve.tiering.offload;
