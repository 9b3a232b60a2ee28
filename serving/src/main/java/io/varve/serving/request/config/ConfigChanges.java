package io.varve.serving.request.config;

import io.varve.metadata.model.ConfigDefinition;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.ApiError;

/** Works out what a change of configuration sets and removes, by Kafka's four operations. */
final class ConfigChanges {

    private static final byte SET = 0;
    private static final byte DELETE = 1;
    private static final byte APPEND = 2;
    private static final byte SUBTRACT = 3;

    private final Function<String, Optional<ConfigDefinition>> definitions;
    private final Function<String, ApiError> unknown;
    private final Function<String, Optional<String>> now;
    private final Map<String, Optional<String>> changes = new TreeMap<>();
    private ApiError problem = ApiError.NONE;

    /**
     * @param definitions of the keys that can be changed
     * @param unknown the answer to a key that can't
     * @param now the value that a key has where it is being changed, or by default
     */
    ConfigChanges(
            Function<String, Optional<ConfigDefinition>> definitions,
            Function<String, ApiError> unknown,
            Function<String, Optional<String>> now) {
        this.definitions = definitions;
        this.unknown = unknown;
        this.now = now;
    }

    /** Takes one operation in. The first that is wrong is what counts. */
    void apply(String key, byte operation, String value) {
        if (problem.isFailure()) {
            return;
        }
        Optional<ConfigDefinition> definition = definitions.apply(key);
        if (definition.isEmpty()) {
            problem = unknown.apply(key);
        } else if (changes.containsKey(key)) {
            problem = new ApiError(Errors.INVALID_REQUEST, "Error due to duplicate config keys: " + key);
        } else if (operation == DELETE) {
            changes.put(key, Optional.empty());
        } else if (value == null) {
            problem = new ApiError(Errors.INVALID_REQUEST, "Null value not supported for : " + key);
        } else {
            set(definition.get(), key, operation, value);
        }
    }

    private void set(ConfigDefinition definition, String key, byte operation, String value) {
        if ((operation == APPEND || operation == SUBTRACT) && definition.type() != ConfigDefinition.Type.LIST) {
            problem = new ApiError(
                    Errors.INVALID_CONFIG,
                    "Config value " + (operation == APPEND ? "append" : "subtract") + " is not allowed for config key: "
                            + key);
            return;
        }
        String next = switch (operation) {
            case SET -> value;
            case APPEND -> joined(key, definition, value, true);
            case SUBTRACT -> joined(key, definition, value, false);
            default -> null;
        };
        if (next == null) {
            problem = new ApiError(Errors.INVALID_REQUEST, "Unknown config operation " + operation + " for " + key);
            return;
        }
        definition
                .problemOf(next)
                .ifPresentOrElse(
                        wrong -> problem = new ApiError(Errors.INVALID_CONFIG, wrong),
                        () -> changes.put(key, Optional.of(next)));
    }

    private String joined(String key, ConfigDefinition definition, String value, boolean append) {
        List<String> elements =
                new ArrayList<>(ConfigDefinition.elements(now.apply(key).orElse(definition.defaultValue())));
        List<String> named = ConfigDefinition.elements(value);
        elements.removeAll(named);
        if (append) {
            elements.addAll(named);
        }
        return String.join(",", elements);
    }

    /** What to change; empty means remove. */
    Map<String, Optional<String>> changes() {
        return changes;
    }

    /** What is wrong, or NONE. */
    ApiError problem() {
        return problem;
    }
}
