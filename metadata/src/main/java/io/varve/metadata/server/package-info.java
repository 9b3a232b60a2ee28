/** A metadata node put together: its configuration, its start and its end. */
package io.varve.metadata.server;
