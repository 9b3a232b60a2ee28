/**
 * How Varve's own processes talk to each other: framed, versioned, correlated, with a deadline on every call, bounded in flight, and with
 * back-pressure in both directions. Bodies are opaque here: protobuf for control, hand-laid for appends and reads. The bytes are drawn at
 * {@link io.varve.protocol.rpc.Frame} and {@link io.varve.protocol.rpc.Hello}.
 */
package io.varve.protocol.rpc;
