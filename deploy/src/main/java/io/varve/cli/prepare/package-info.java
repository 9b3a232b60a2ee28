/** What makes starts of the {@code varve} command quicker. */
package io.varve.cli.prepare;
