package io.varve.serving.core.telemetry;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** Which clients a subscription is for: patterns for what is known of a client, each of which must match. Without any it is for all. Immutable. */
public final class ClientMatch {

    /** What can be matched, by Kafka's names. */
    private static final List<String> SELECTORS = List.of(
            ClientFacts.INSTANCE_ID,
            ClientFacts.CLIENT_ID,
            ClientFacts.SOFTWARE_NAME,
            ClientFacts.SOFTWARE_VERSION,
            ClientFacts.SOURCE_ADDRESS,
            ClientFacts.SOURCE_PORT);

    private final Map<String, Pattern> patterns;

    private ClientMatch(Map<String, Pattern> patterns) {
        this.patterns = patterns;
    }

    /** What is wrong with {@code text}; empty if nothing is. */
    public static Optional<String> problemOf(String text) {
        for (String element : Subscription.elements(text)) {
            String[] parts = element.split("=", 2);
            if (parts.length != 2) {
                return Optional.of("Illegal client matching pattern: " + element);
            }
            if (!SELECTORS.contains(parts[0].trim())) {
                return Optional.of("Illegal client matching pattern: " + element);
            }
            try {
                Pattern.compile(parts[1].trim());
            } catch (PatternSyntaxException e) {
                return Optional.of("Illegal client matching pattern: " + element);
            }
        }
        return Optional.empty();
    }

    /** Reads what {@link #problemOf} finds nothing wrong with. */
    static ClientMatch parse(String text) {
        Map<String, Pattern> patterns = new TreeMap<>();
        for (String element : Subscription.elements(text)) {
            String[] parts = element.split("=", 2);
            patterns.put(parts[0].trim(), Pattern.compile(parts[1].trim()));
        }
        return new ClientMatch(patterns);
    }

    /** Whether {@code client} is one of them. */
    boolean matches(ClientFacts client) {
        return patterns.entrySet().stream()
                .allMatch(pattern -> pattern.getValue()
                        .matcher(client.value(pattern.getKey()))
                        .matches());
    }
}
