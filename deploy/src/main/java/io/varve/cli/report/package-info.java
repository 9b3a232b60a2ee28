/** What an operator asks about a cluster, taken out of one version of its metadata. Pure. */
package io.varve.cli.report;
