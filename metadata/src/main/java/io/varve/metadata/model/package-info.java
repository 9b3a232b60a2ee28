/** What the metadata service knows, as immutable values. Pure: no I/O, clock, thread or chance. */
package io.varve.metadata.model;
