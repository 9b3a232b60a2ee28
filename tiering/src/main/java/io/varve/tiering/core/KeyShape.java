package io.varve.tiering.core;

import io.varve.base.PartitionId;
import io.varve.base.TopicId;
import io.varve.metadata.model.ObjectKeys;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A shape of key below a partition, to tell our keys from others and to read them. */
final class KeyShape {

    /** The first group of what follows the partition. */
    static final int FIRST_GROUP = 3;

    private final Pattern shape;

    /** @param rest a regular expression for what follows the partition */
    KeyShape(String rest) {
        this.shape = Pattern.compile("([0-9a-f]{32})/(0|[1-9][0-9]{0,9})/" + rest);
    }

    /** What a key of a cluster says; nothing if it has another shape, or numbers beyond ours. */
    <T> Optional<T> read(String clusterId, String key, BiFunction<PartitionId, Matcher, T> read) {
        String prefix = ObjectKeys.clusterPrefix(clusterId);
        if (!key.startsWith(prefix)) {
            return Optional.empty();
        }
        Matcher groups = shape.matcher(key.substring(prefix.length()));
        if (!groups.matches()) {
            return Optional.empty();
        }
        try {
            PartitionId partition = new PartitionId(TopicId.parse(groups.group(1)), Integer.parseInt(groups.group(2)));
            return Optional.of(read.apply(partition, groups));
        } catch (NumberFormatException beyondOurNumbers) {
            return Optional.empty();
        }
    }
}
