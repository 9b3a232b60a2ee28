/**
 * The vocabulary that every module shares: ids, time, chance, timers and broken invariants. Nothing here does I/O, starts a
 * thread or reads a clock of its own.
 */
package io.varve.base;
