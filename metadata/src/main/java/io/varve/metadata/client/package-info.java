/** The clients of the metadata service. */
package io.varve.metadata.client;
