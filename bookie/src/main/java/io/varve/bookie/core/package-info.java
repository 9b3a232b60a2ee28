/** What the store decides, as pure functions and single-owner state: no I/O, threads, clocks or chance. */
package io.varve.bookie.core;
