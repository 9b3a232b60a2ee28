package io.varve.serving.server;

import io.varve.base.StartupException;
import io.varve.metadata.model.BrokerInfo.Endpoint;
import io.varve.protocol.config.ConfigKey;
import io.varve.protocol.config.HostPort;
import io.varve.serving.net.KafkaServerOptions.Listener;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.ToIntFunction;

/**
 * Where a broker listens and what it tells clients of it. Each listener advertises an address of its own; one that nobody can connect to, such as
 * {@code 0.0.0.0}, is refused at start, for it would only fail at the clients (P45 of the user reports).
 *
 * @param listening where
 * @param advertised the address given out for a listener, by its name; a listener that isn't in it gives out its own
 */
record Listeners(List<Listener> listening, Map<String, HostPort> advertised) {

    private static final Set<String> WILDCARDS = new TreeSet<>(List.of("", "0.0.0.0", "::", "0:0:0:0:0:0:0:0"));
    private static final Set<String> SECURED = new TreeSet<>(List.of("SSL", "SASL_PLAINTEXT", "SASL_SSL"));

    /** A {@code NAME://host:port}. */
    record Named(String name, HostPort address) {

        /** @throws ConfigKey.WrongValue if it is none */
        static Named parse(String text) {
            int end = text.indexOf("://");
            if (end <= 0) {
                throw new ConfigKey.WrongValue("has a part that is no NAME://host:port");
            }
            String rest = text.substring(end + 3);
            // Kafka takes an empty host for all addresses.
            HostPort address = rest.startsWith(":") ? withoutHost(rest) : HostPort.parse(rest);
            return new Named(text.substring(0, end).toUpperCase(Locale.ROOT), address);
        }

        private static HostPort withoutHost(String rest) {
            return new HostPort("", HostPort.parse("any" + rest).port());
        }

        @Override
        public String toString() {
            return name + "://" + address;
        }
    }

    /** All of a list. */
    static List<Named> parse(List<String> texts) {
        List<Named> all = new ArrayList<>();
        Set<String> names = new TreeSet<>();
        for (String text : texts) {
            Named named = Named.parse(text);
            if (!names.add(named.name)) {
                throw new ConfigKey.WrongValue("names listener " + named.name + " twice");
            }
            if (SECURED.contains(named.name)) {
                throw new ConfigKey.WrongValue(
                        "names a listener " + named.name + ", but listeners speak plain text only");
            }
            all.add(named);
        }
        if (all.isEmpty()) {
            throw new ConfigKey.WrongValue("names no listener");
        }
        return List.copyOf(all);
    }

    /**
     * Both keys together.
     *
     * @throws StartupException BAD_CONFIG in one line
     */
    static Listeners of(List<Named> listeners, List<Named> advertised) {
        Map<String, HostPort> given = new TreeMap<>();
        for (Named named : advertised) {
            if (WILDCARDS.contains(named.address.host())) {
                throw bad("advertised.listeners gives out " + named
                        + ", which no client can connect to; name a host that clients can resolve");
            }
            if (listeners.stream().noneMatch(listener -> listener.name.equals(named.name))) {
                throw bad("advertised.listeners names listener " + named.name + ", which listeners doesn't have");
            }
            given.put(named.name, named.address);
        }
        List<Listener> listening = new ArrayList<>();
        for (Named named : listeners) {
            boolean wildcard = WILDCARDS.contains(named.address.host());
            if (wildcard && !given.containsKey(named.name)) {
                throw bad("Listener " + named + " listens on all addresses and would give out "
                        + (named.address.host().isEmpty() ? "none" : named.address.host())
                        + "; set advertised.listeners=" + named.name + "://HOST:" + named.address.port()
                        + " with a host that clients can resolve");
            }
            listening.add(new Listener(named.name, wildcard ? "" : named.address.host(), named.address.port()));
        }
        return new Listeners(List.copyOf(listening), given);
    }

    /**
     * What is registered for clients to find.
     *
     * @param portOf the port on which a listener really listens, which matters where it was configured as 0
     */
    List<Endpoint> endpoints(ToIntFunction<String> portOf) {
        List<Endpoint> endpoints = new ArrayList<>();
        for (Listener listener : listening) {
            HostPort address = advertised.getOrDefault(listener.name(), new HostPort(listener.host(), listener.port()));
            int port = address.port() == 0 ? portOf.applyAsInt(listener.name()) : address.port();
            endpoints.add(new Endpoint(listener.name(), "PLAINTEXT", address.host(), port));
        }
        return List.copyOf(endpoints);
    }

    private static StartupException bad(String line) {
        return new StartupException(StartupException.Reason.BAD_CONFIG, line);
    }
}
