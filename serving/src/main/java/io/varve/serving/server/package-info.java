/** The composition root: a broker's configuration and its node. */
package io.varve.serving.server;
