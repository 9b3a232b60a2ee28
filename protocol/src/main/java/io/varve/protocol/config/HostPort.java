package io.varve.protocol.config;

import java.util.Objects;

/**
 * An address. IPv6 literals stand in brackets.
 *
 * @param port 0 to 65535; 0 means any free one, where that makes sense
 */
public record HostPort(String host, int port) {

    public HostPort {
        Objects.requireNonNull(host, "host");
    }

    /**
     * Reads {@code host:port}.
     *
     * @throws ConfigKey.WrongValue if it is none
     */
    public static HostPort parse(String text) {
        int colon = text.lastIndexOf(':');
        if (colon <= 0 || colon == text.length() - 1) {
            throw new ConfigKey.WrongValue("is no host:port");
        }
        String host = text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        } else if (host.indexOf(':') >= 0) {
            throw new ConfigKey.WrongValue("is no host:port (an IPv6 address stands in brackets)");
        }
        int port;
        try {
            port = Integer.parseInt(text.substring(colon + 1));
        } catch (NumberFormatException e) {
            throw new ConfigKey.WrongValue("has no number as its port");
        }
        if (port < 0 || port > 65535) {
            throw new ConfigKey.WrongValue("has a port that is not between 0 and 65535");
        }
        return new HostPort(host, port);
    }

    @Override
    public String toString() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }
}
