/**
 * The segment protocol as the owner of a partition runs it (DESIGN part 4): takeover, appending, rolling and giving back, and the state
 * of the producers. Deterministic: inputs in, effects out; no I/O, thread, clock or chance.
 */
package io.varve.serving.core.partition;
