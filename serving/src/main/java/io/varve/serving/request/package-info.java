/** What every handler of Kafka requests works with: the request, its client, the broker's surroundings, error codes. */
package io.varve.serving.request;
