/** What brokers and bookies say to each other, and the one form an entry has on the wire, on disk and in objects. */
package io.varve.protocol.storage;
