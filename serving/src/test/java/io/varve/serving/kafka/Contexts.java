package io.varve.serving.kafka;

import java.net.InetAddress;
import org.apache.kafka.common.network.ClientInformation;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;

/** Contexts of requests as a client's connection would give them. */
public final class Contexts {

    private Contexts() {}

    /** Of the newest stable version. */
    public static RequestContext of(ApiKeys api) {
        return of(api, api.latestVersion());
    }

    /** Of that version. */
    public static RequestContext of(ApiKeys api, int version) {
        return new RequestContext(
                new RequestHeader(api, (short) version, "client", 1),
                "connection",
                InetAddress.getLoopbackAddress(),
                KafkaPrincipal.ANONYMOUS,
                new ListenerName("PLAINTEXT"),
                SecurityProtocol.PLAINTEXT,
                ClientInformation.EMPTY,
                false);
    }
}
