/** Who is let in, and how fast: connection counts and quotas. Pure: time is handed in. */
package io.varve.serving.core.admission;
