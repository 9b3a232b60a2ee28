/** The metadata service as its clients reach it: requests, watches, and what only the leader does. */
package io.varve.metadata.net;
