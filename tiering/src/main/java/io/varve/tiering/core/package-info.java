/**
 * The bytes of an object and the decisions of tiering: formats, read-ahead, back-off, orphans. No I/O, no threads, no clocks, no chance.
 */
package io.varve.tiering.core;
