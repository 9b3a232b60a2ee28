package io.varve.serving.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.varve.serving.request.cluster.SupportedApis;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.message.ApiVersionsRequestData;
import org.apache.kafka.common.message.DescribeAclsRequestData;
import org.apache.kafka.common.message.ProduceRequestData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourceType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every served API in every served version: a default request parses, and is answered in that version to the last byte. */
@Timeout(60)
final class EveryVersionIT {

    private static TestBroker broker;

    @BeforeAll
    static void start() {
        broker = TestBroker.withCoordinators();
        broker.metadata.createTopic("t", 2, 3, Map.of()).join();
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    /** An API in a version. */
    record Case(ApiKeys api, short version) {}

    static Stream<Case> served() {
        List<Case> cases = new ArrayList<>();
        SupportedApis.served().forEach((api, range) -> {
            for (short version = range.least(); version <= range.most(); version++) {
                cases.add(new Case(api, version));
            }
        });
        return cases.stream();
    }

    @ParameterizedTest
    @MethodSource("served")
    void aDefaultRequestIsAnsweredInItsVersion(Case one) throws IOException {
        try (RawClient client = new RawClient(broker.port())) {
            RequestHeader header = new RequestHeader(one.api(), one.version(), "t", 5);
            client.sendFrame(frame(header, defaultBody(one)));
            AbstractResponse response = client.receive(header);
            assertThat(response.apiKey()).isEqualTo(one.api());
        }
    }

    /** With something in the request, answers have something in them, which earlier versions must be able to say. */
    @ParameterizedTest
    @MethodSource("served")
    void aRequestWithContentIsAnsweredInItsVersionWithoutAServerError(Case one) throws IOException {
        Optional<ApiMessage> body = Bodies.of(one.api(), one.version(), broker);
        if (body.isEmpty()) {
            return;
        }
        try (RawClient client = new RawClient(broker.port())) {
            RequestHeader header = new RequestHeader(one.api(), one.version(), "t", 5);
            client.sendFrame(frame(header, body.get()));
            assertThat(client.receive(header).errorCounts()).doesNotContainKey(Errors.UNKNOWN_SERVER_ERROR);
        }
    }

    /**
     * With something in every field: whatever sense that makes, it is answered in its version and not by a server error. Groups and transactions have
     * their true coordinators.
     */
    @ParameterizedTest
    @MethodSource("served")
    void aRequestWithSomethingInEveryFieldIsAnsweredInItsVersionWithoutAServerError(Case one) throws IOException {
        try (RawClient client = new RawClient(broker.port())) {
            RequestHeader header = new RequestHeader(one.api(), one.version(), "t", 5);
            client.sendFrame(frame(header, FilledRequest.of(one.api(), one.version())));
            assertThat(client.receive(header).errorCounts()).doesNotContainKey(Errors.UNKNOWN_SERVER_ERROR);
        }
    }

    private static ByteBuffer frame(RequestHeader header, ByteBuffer body) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        int size = header.data().size(cache, header.headerVersion()) + body.remaining();
        ByteBufferAccessor frame = new ByteBufferAccessor(ByteBuffer.allocate(size));
        header.data().write(frame, cache, header.headerVersion());
        frame.writeByteBuffer(body);
        frame.flip();
        return frame.buffer();
    }

    private static ApiMessage defaultBody(Case one) {
        ApiMessage body = ApiMessageType.fromApiKey(one.api().id).newRequest();
        if (body instanceof ProduceRequestData produce) {
            produce.setAcks((short) -1); // The default is 0, which isn't answered.
        }
        if (body instanceof ApiVersionsRequestData versions) {
            versions.setClientSoftwareName("test").setClientSoftwareVersion("1");
        }
        if (body instanceof DescribeAclsRequestData acls) {
            // Its defaults name nothing that is.
            acls.setResourceTypeFilter(ResourceType.TOPIC.code())
                    .setPatternTypeFilter(PatternType.LITERAL.code())
                    .setOperation(AclOperation.ANY.code())
                    .setPermissionType(AclPermissionType.ANY.code());
        }
        return body;
    }

    private static ByteBuffer frame(RequestHeader header, ApiMessage body) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        short headerVersion = header.headerVersion();
        int size = header.data().size(cache, headerVersion) + body.size(cache, header.apiVersion());
        ByteBufferAccessor frame = new ByteBufferAccessor(ByteBuffer.allocate(size));
        header.data().write(frame, cache, headerVersion);
        body.write(frame, cache, header.apiVersion());
        if (frame.remaining() != 0) {
            fail("the request's size was not as computed");
        }
        frame.flip();
        return frame.buffer();
    }
}
