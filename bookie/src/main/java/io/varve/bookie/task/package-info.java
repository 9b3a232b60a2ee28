/** Carries out what the metadata service has durably given this bookie to do, and nothing else (I-9). The kinds of work live elsewhere. */
package io.varve.bookie.task;
