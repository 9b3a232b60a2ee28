/** Recent entries in memory: the very buffers that were appended. */
package io.varve.serving.cache;
