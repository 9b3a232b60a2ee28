package io.varve.serving.coordinator;

import io.varve.metadata.model.ConfigDefinition;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import org.apache.kafka.common.requests.ApiError;

/** What may be configured of a kind of named resources, such as groups. Immutable. */
public interface ResourceRules {

    /** All keys, in the order in which they are described. */
    List<Key> keys();

    /** The answer to who sets a key that isn't one of these. */
    ApiError unknown(String key);

    /** What is wrong with a resource of which {@code configs} are set, all of them; NONE if nothing is. */
    ApiError check(String name, SortedMap<String, String> configs);

    /**
     * A key.
     *
     * @param definition with the value that holds if nothing is set anywhere, and the broker's key that stands in for this one
     * @param ofBroker what the broker's own configuration says of that; empty if nothing
     */
    record Key(ConfigDefinition definition, Optional<String> ofBroker) {}

    /** The key of that name. */
    default Optional<Key> find(String key) {
        return keys().stream()
                .filter(known -> known.definition().name().equals(key))
                .findFirst();
    }
}
