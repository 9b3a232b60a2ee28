/** Kafka's protocol on sockets: frames, connections, answers in order, back-pressure. The only package of serving that names Netty's channels. */
package io.varve.serving.net;
