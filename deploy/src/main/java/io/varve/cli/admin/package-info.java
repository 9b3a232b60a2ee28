/** What an operator asks and tells a cluster, a bookie's disk or a bucket. */
package io.varve.cli.admin;
