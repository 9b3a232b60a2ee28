/**
 * Kafka's messages on Netty's buffers: requests are read from, and answers written to, {@code ByteBuf}s without copying record batches.
 * Here, and nowhere else in the request path, are Kafka's own record classes named.
 */
package io.varve.serving.kafka.wire;
