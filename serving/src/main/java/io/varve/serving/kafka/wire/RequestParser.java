package io.varve.serving.kafka.wire;

import io.netty.buffer.ByteBuf;
import java.util.List;
import org.apache.kafka.common.message.ApiVersionsRequestData;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.ApiVersionsRequest;
import org.apache.kafka.common.requests.RequestHeader;

/** Turns a request frame (without its length) into a request. Never throws anything but {@link MalformedRequestException}. */
public final class RequestParser {

    private static final int KEY_AND_VERSION_BYTES = 4;

    private RequestParser() {}

    /**
     * Parses a frame.
     *
     * <p>ApiVersions of a version we don't know is a request like any other (its body is not looked at): the answer says which versions
     * there are.
     *
     * @param frame read from its reader index on; stays the caller's
     * @throws MalformedRequestException if it is no request, or one of a version whose format we don't know
     */
    public static ParsedRequest parse(ByteBuf frame) {
        if (frame.readableBytes() < KEY_AND_VERSION_BYTES) {
            throw new MalformedRequestException("A request of " + frame.readableBytes() + " bytes has no header.");
        }
        short key = frame.getShort(frame.readerIndex());
        short version = frame.getShort(frame.readerIndex() + Short.BYTES);
        if (!ApiKeys.hasId(key)) {
            throw new MalformedRequestException("There is no API with the key " + key + ".");
        }
        ApiKeys api = ApiKeys.forId(key);
        try {
            return parse(frame, api, version);
        } catch (MalformedRequestException e) {
            throw e;
        } catch (RuntimeException e) {
            throw new MalformedRequestException(
                    "A " + api + " request of version " + version + " can't be parsed: " + e.getMessage(), e);
        }
    }

    private static ParsedRequest parse(ByteBuf frame, ApiKeys api, short version) {
        // Kafka's own question counts every version of ApiVersions as enabled.
        boolean supported = api.isVersionSupported(version) && api.isVersionEnabled(version, false);
        if (!supported && api != ApiKeys.API_VERSIONS) {
            throw new MalformedRequestException(api + " of version " + version + " is not supported.");
        }
        FrameReader reader = new FrameReader(frame);
        short headerVersion = api.requestHeaderVersion(version);
        RequestHeaderData headerData = new RequestHeaderData(reader, headerVersion);
        if (headerData.clientId() == null) {
            headerData.setClientId("");
        }
        RequestHeader header = new RequestHeader(headerData, headerVersion);
        if (!supported) {
            AbstractRequest fromTheFuture = new ApiVersionsRequest(new ApiVersionsRequestData(), (short) 0, version);
            return new ParsedRequest(header, fromTheFuture, List.of());
        }
        AbstractRequest body = AbstractRequest.parseRequest(api, version, reader).request;
        // Bytes that follow are passed over, as Kafka's broker does: librdkafka sends some behind an empty list of
        // topics.
        return new ParsedRequest(header, body, reader.records());
    }
}
