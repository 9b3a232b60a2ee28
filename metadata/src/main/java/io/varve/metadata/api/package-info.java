/** The ports through which every other module sees the metadata service. */
package io.varve.metadata.api;
