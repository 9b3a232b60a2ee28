/** Handlers for configuration. */
package io.varve.serving.request.config;
