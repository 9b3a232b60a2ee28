/** Twins of the metadata service for the tests of every module. */
package io.varve.metadata.testing;
