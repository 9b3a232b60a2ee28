/** A tool's way to the metadata service. */
package io.varve.cli.link;
