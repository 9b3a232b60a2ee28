/**
 * The seam between those who speak to clients (request handlers, coordinators) and those who own partitions: a partition's log as its
 * owner offers it. Nothing here knows of bookies, of segments or of sockets.
 */
package io.varve.serving.log;
