/** The process's side of the ports in {@link io.varve.base}: the real clock, real chance, and the end of the process. */
package io.varve.protocol.runtime;
