package io.varve.serving.request;

import io.varve.serving.kafka.wire.ParsedRequest;
import io.varve.serving.session.ClientSession;
import java.util.Optional;
import org.apache.kafka.common.network.ClientInformation;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;

/**
 * One request of one client. Its frame lives until the future of its answer completes: what a handler wants to keep beyond that, it
 * retains.
 *
 * @param session the connection it came in on
 * @param parsed header, body and record slices
 * @param bytes the size of its frame
 */
public record ClientRequest(ClientSession session, ParsedRequest parsed, int bytes) {

    /** Which API. */
    public ApiKeys api() {
        return parsed.header().apiKey();
    }

    /** The version of the request's format. */
    public short version() {
        return parsed.body().version();
    }

    /** The body's data; the caller knows of which class. */
    @SuppressWarnings("unchecked")
    public <T extends ApiMessage> T data() {
        return (T) parsed.body().data();
    }

    /** The client's name of itself, empty if it gave none. */
    public String clientId() {
        return parsed.header().clientId();
    }

    /** The user's name: nobody is authenticated yet. */
    public String user() {
        return KafkaPrincipal.ANONYMOUS.getName();
    }

    /** The same in the form that the coordinators take. */
    public RequestContext context() {
        return new RequestContext(
                parsed.header(),
                session.connectionId(),
                session.address(),
                Optional.of(session.port()),
                KafkaPrincipal.ANONYMOUS,
                new ListenerName(session.listener()),
                SecurityProtocol.PLAINTEXT,
                new ClientInformation(
                        session.software().name(), session.software().version()),
                false);
    }
}
