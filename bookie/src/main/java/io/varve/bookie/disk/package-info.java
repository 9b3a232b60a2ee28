/** The disk as the store sees it: a port with one implementation on files. */
package io.varve.bookie.disk;
