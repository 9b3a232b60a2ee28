/** A cluster made again from its bucket. */
package io.varve.cli.restore;
