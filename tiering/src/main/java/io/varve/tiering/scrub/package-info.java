/** Looks for what lies in the bucket without being named, and for what is named without being there. */
package io.varve.tiering.scrub;
