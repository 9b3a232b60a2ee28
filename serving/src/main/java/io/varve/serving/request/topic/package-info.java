/** Handlers for topics: where they are, and making, growing and deleting them. */
package io.varve.serving.request.topic;
