/** Stock clients against clusters of real processes. */
package io.varve.itest.kafka;
