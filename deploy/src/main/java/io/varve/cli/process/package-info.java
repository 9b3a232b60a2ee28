/** Other processes of the same program. */
package io.varve.cli.process;
