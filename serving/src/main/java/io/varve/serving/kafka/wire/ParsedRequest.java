package io.varve.serving.kafka.wire;

import io.netty.buffer.ByteBuf;
import java.util.List;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.RequestHeader;

/**
 * A request frame, parsed.
 *
 * @param header its header
 * @param body its body
 * @param records the request's fields of record batches in order, as slices of the frame: they live as long as the frame does, and who
 *     wants one longer retains it
 */
public record ParsedRequest(RequestHeader header, AbstractRequest body, List<ByteBuf> records) {}
