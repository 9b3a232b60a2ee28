/** A cluster on one machine: where its nodes listen and keep their data, and how they run in one process. */
package io.varve.cli.local;
