/** The metadata's log: the only package that names Apache Ratis. Nothing of it shows in the types that others use. */
package io.varve.metadata.raft;
