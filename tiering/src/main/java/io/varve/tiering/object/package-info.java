/** Stores of objects: the port, what it is on (a directory, S3), and what is put around it (deadlines, back-off, counters). */
package io.varve.tiering.object;
