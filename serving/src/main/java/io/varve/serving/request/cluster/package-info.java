/** Handlers for the cluster as a whole: versions, features, brokers, and what Varve does not have. */
package io.varve.serving.request.cluster;
