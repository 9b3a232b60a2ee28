/** Handlers of the data path: records in, records out, and where they are. */
package io.varve.serving.request.data;
