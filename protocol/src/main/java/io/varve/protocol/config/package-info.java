/**
 * Configuration files against a declared schema: what is unknown or wrong refuses in one line, and the commented sample file is written from the
 * same declarations. Pure, but for {@link io.varve.protocol.config.ConfigFiles}.
 */
package io.varve.protocol.config;
