/** Reads of objects: verified ranges of them, and whole ones from end to end. */
package io.varve.tiering.read;
