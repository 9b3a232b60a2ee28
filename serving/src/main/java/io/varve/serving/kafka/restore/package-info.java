/** Coordinators' records outside of a coordinator. */
package io.varve.serving.kafka.restore;
