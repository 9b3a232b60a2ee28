/**
 * Log compaction: what of a stretch of batches stays, and in which form. Pure: batches come in as buffers, what stays goes out as buffers, and
 * who reads and writes them is of no concern here (docs/adr/0083).
 */
package io.varve.serving.core.compaction;
