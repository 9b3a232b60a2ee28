/** The journal of one data directory: files that are made ahead and used again, and the loop that writes groups to them. */
package io.varve.bookie.journal;
