/** What one client connection decides: in which order answers leave, and when to read on. Pure: no I/O, thread, clock or chance. */
package io.varve.serving.core.connection;
