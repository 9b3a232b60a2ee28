package io.varve.serving.core.telemetry;

import io.varve.base.Invariant;

/**
 * What is known of a client that reports metrics.
 *
 * @param instanceId the id that this cluster gave it
 * @param clientId what it calls itself
 * @param softwareName its library
 * @param softwareVersion that library's version
 * @param address where it is
 * @param port from which port it connected
 */
public record ClientFacts(
        String instanceId, String clientId, String softwareName, String softwareVersion, String address, int port) {

    static final String INSTANCE_ID = "client_instance_id";
    static final String CLIENT_ID = "client_id";
    static final String SOFTWARE_NAME = "client_software_name";
    static final String SOFTWARE_VERSION = "client_software_version";
    static final String SOURCE_ADDRESS = "client_source_address";
    static final String SOURCE_PORT = "client_source_port";

    /** By Kafka's name of it. */
    String value(String selector) {
        return switch (selector) {
            case INSTANCE_ID -> instanceId;
            case CLIENT_ID -> clientId;
            case SOFTWARE_NAME -> softwareName;
            case SOFTWARE_VERSION -> softwareVersion;
            case SOURCE_ADDRESS -> address;
            case SOURCE_PORT -> Integer.toString(port);
            default -> {
                Invariant.check(false, "patterns are checked when they are set");
                yield "";
            }
        };
    }
}
