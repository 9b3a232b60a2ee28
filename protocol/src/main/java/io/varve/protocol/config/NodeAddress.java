package io.varve.protocol.config;

/**
 * Where a numbered node is.
 *
 * @param id its number among those of its role
 */
public record NodeAddress(int id, String host, int port) {

    /**
     * Reads {@code id@host:port}.
     *
     * @throws ConfigKey.WrongValue if it is none
     */
    public static NodeAddress parse(String text) {
        int at = text.indexOf('@');
        if (at <= 0) {
            throw new ConfigKey.WrongValue("has a part that is no id@host:port");
        }
        int id;
        try {
            id = Integer.parseInt(text.substring(0, at));
        } catch (NumberFormatException e) {
            throw new ConfigKey.WrongValue("has a part without a number before the @");
        }
        if (id < 0) {
            throw new ConfigKey.WrongValue("has a negative node id");
        }
        HostPort address = HostPort.parse(text.substring(at + 1));
        return new NodeAddress(id, address.host(), address.port());
    }

    @Override
    public String toString() {
        return id + "@" + new HostPort(host, port);
    }
}
