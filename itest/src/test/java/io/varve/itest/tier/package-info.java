/** Clusters of processes and their bucket. */
package io.varve.itest.tier;
