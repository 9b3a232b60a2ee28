/**
 * The metadata's state machine and its planners: commands in, records out, and the image that replaying them gives. Pure: no I/O, thread, clock
 * or chance; what is needed of the last two comes with each command.
 */
package io.varve.metadata.core;
