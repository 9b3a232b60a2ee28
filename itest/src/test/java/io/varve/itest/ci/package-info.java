/** Tests of what {@code .ci/run} tells. */
package io.varve.itest.ci;
