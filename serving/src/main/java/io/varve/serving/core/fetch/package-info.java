/** Who waits for what to become readable. */
package io.varve.serving.core.fetch;
