/** Small helpers of the bookie's own tests. */
package io.varve.bookie.testing;
