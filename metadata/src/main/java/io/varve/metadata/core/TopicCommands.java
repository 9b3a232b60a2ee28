package io.varve.metadata.core;

import static io.varve.metadata.core.Rejection.unless;

import io.varve.base.PartitionId;
import io.varve.base.TopicId;
import io.varve.metadata.api.MetadataException.Reason;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.ConfigConflicts;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Topic;
import io.varve.metadata.model.TopicConfigSchema;
import io.varve.metadata.model.TopicConfigs;
import io.varve.metadata.model.TopicNames;
import io.varve.protocol.meta.AlterBrokerConfigsCommand;
import io.varve.protocol.meta.AlterTopicConfigsCommand;
import io.varve.protocol.meta.ConfigChangeProto;
import io.varve.protocol.meta.CreatePartitionsCommand;
import io.varve.protocol.meta.CreateTopicCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Decides what concerns topics and configuration. */
final class TopicCommands {

    /** What one topic may have: a bound on what one command can ask for. */
    static final int PARTITIONS_MAX = 10_000;

    private static final String PARTITIONS_KEY = "num.partitions";
    private static final String REPLICAS_KEY = "default.replication.factor";
    private static final int PARTITIONS_DEFAULT = 1;
    private static final int REPLICAS_DEFAULT = 3;

    private static final int CONFIG_LENGTH_MAX = 32_767;

    /** A key may hold the escaped name of a user, a client id, or a group. */
    private static final int CONFIG_KEY_LENGTH_MAX = 1_000;

    private TopicCommands() {}

    static TopicId create(Draft draft, CreateTopicCommand command) {
        MetadataImage image = draft.image();
        String name = command.getName();
        TopicNames.problemOf(name).ifPresent(problem -> {
            throw new Rejection(Reason.INVALID_TOPIC_NAME, "Invalid topic name: " + problem);
        });
        unless(image.topic(name).isEmpty(), Reason.ALREADY_EXISTS, "Topic '" + name + "' already exists");
        String alike = image.topicIndex().byCollisionKey().get(TopicNames.collisionKey(name));
        unless(
                alike == null,
                Reason.INVALID_TOPIC_NAME,
                "Topic '" + name + "' differs from '" + alike + "' in '.' and '_' alone");
        TopicId id = ProtoModel.fromProto(command.getId());
        boolean isFresh = !id.equals(TopicId.NONE)
                && image.topic(id).isEmpty()
                && image.partitionIndex().find(new PartitionId(id, 0)) == null;
        unless(isFresh, Reason.INVALID, "A topic's id is new");
        int partitions = command.getPartitions() == -1
                ? clusterNumber(image, PARTITIONS_KEY, PARTITIONS_DEFAULT)
                : command.getPartitions();
        unless(partitions >= 1, Reason.INVALID_PARTITIONS, "A topic has at least one partition, not " + partitions);
        unless(
                partitions <= PARTITIONS_MAX,
                Reason.INVALID_PARTITIONS,
                "A topic has no more than " + PARTITIONS_MAX + " partitions, not " + partitions);
        int replicas = command.getReplicas() == -1
                ? clusterNumber(image, REPLICAS_KEY, REPLICAS_DEFAULT)
                : command.getReplicas();
        unless(replicas >= 1, Reason.INVALID_REPLICATION_FACTOR, "A topic has at least one replica, not " + replicas);
        unless(
                replicas <= image.bookies().size(),
                Reason.INVALID_REPLICATION_FACTOR,
                "Replication factor " + replicas + " is larger than the number of bookies, "
                        + image.bookies().size());
        SortedMap<String, String> configs = ProtoModel.configs(command.getConfigsList());
        checkConfigs(configs);
        refuse(ConfigConflicts.of(TopicConfigs.of(configs, image.clusterConfigs())));
        draft.put(new Topic(id, name, partitions, replicas, acksOf(image, configs, replicas), configs));
        addPartitions(draft, id, 0, partitions);
        return id;
    }

    static void delete(Draft draft, TopicId id) {
        Topic topic = find(draft.image(), id);
        List<PartitionState> partitions = List.copyOf(draft.image().partitions(id));
        draft.remove(topic);
        for (PartitionState partition : partitions) {
            withdrawBuilding(draft, partition.id());
            draft.noteDeadStretch(partition.id(), draft.objectsNotBeforeMs());
        }
    }

    private static void withdrawBuilding(Draft draft, PartitionId partition) {
        TaskIndex tasks = draft.image().taskIndex();
        Long task = tasks.manifests().tasks().get(partition);
        if (task != null && tasks.byId().get(task).task() instanceof BookieTask.BuildManifest build) {
            draft.withdraw(build, draft.nowMs() + Planner.ABANDONED_ATTEMPT_MS);
        }
    }

    static void createPartitions(Draft draft, CreatePartitionsCommand command) {
        Topic topic = find(draft.image(), ProtoModel.fromProto(command.getId()));
        int total = command.getTotal();
        unless(
                total > topic.partitions(),
                Reason.INVALID_PARTITIONS,
                "Topic '" + topic.name() + "' has " + topic.partitions() + " partitions already: " + total
                        + " is not more");
        unless(
                total <= PARTITIONS_MAX,
                Reason.INVALID_PARTITIONS,
                "A topic has no more than " + PARTITIONS_MAX + " partitions, not " + total);
        draft.put(new Topic(topic.id(), topic.name(), total, topic.replicas(), topic.acks(), topic.configs()));
        addPartitions(draft, topic.id(), topic.partitions(), total);
    }

    static TopicId alterConfigs(Draft draft, AlterTopicConfigsCommand command) {
        Topic topic = find(draft.image(), ProtoModel.fromProto(command.getId()));
        SortedMap<String, String> configs = new TreeMap<>(topic.configs());
        for (ConfigChangeProto change : command.getChangesList()) {
            if (change.hasValue()) {
                configs.put(change.getKey(), change.getValue());
            } else {
                unless(
                        TopicConfigSchema.find(change.getKey()).isPresent(),
                        Reason.INVALID_CONFIG,
                        "Unknown topic config name: " + change.getKey());
                configs.remove(change.getKey());
            }
        }
        checkConfigs(configs);
        Map<String, String> ofCluster = draft.image().clusterConfigs();
        refuse(ConfigConflicts.brought(TopicConfigs.of(topic, ofCluster), TopicConfigs.of(configs, ofCluster)));
        draft.put(withConfigs(draft.image(), topic, configs));
        return topic.id();
    }

    static void alterConfigs(Draft draft, AlterBrokerConfigsCommand command) {
        Optional<Integer> broker = command.hasBroker() ? Optional.of(command.getBroker()) : Optional.empty();
        Map<String, String> before = draft.image().clusterConfigs();
        for (ConfigChangeProto change : command.getChangesList()) {
            unless(
                    !change.getKey().isBlank() && change.getKey().length() <= CONFIG_KEY_LENGTH_MAX,
                    Reason.INVALID_CONFIG,
                    "A configuration key has 1 to " + CONFIG_KEY_LENGTH_MAX + " characters");
            unless(
                    change.getValue().length() <= CONFIG_LENGTH_MAX,
                    Reason.INVALID_CONFIG,
                    "The value of " + change.getKey() + " is longer than " + CONFIG_LENGTH_MAX + " characters");
            draft.config(
                    broker, change.getKey(), change.hasValue() ? Optional.of(change.getValue()) : Optional.empty());
        }
        if (broker.isEmpty()) {
            refuse(ConfigConflicts.broughtToCluster(before, draft.image().clusterConfigs()));
            followClusterAcks(draft);
        }
    }

    /** A topic that doesn't say itself how many acknowledgements it wants follows the cluster. */
    private static void followClusterAcks(Draft draft) {
        List<Topic> followers = new ArrayList<>();
        for (Topic topic : draft.image().topics()) {
            if (acksOf(draft.image(), topic.configs(), topic.replicas()) != topic.acks()) {
                followers.add(topic);
            }
        }
        followers.forEach(topic -> draft.put(withConfigs(draft.image(), topic, topic.configs())));
    }

    private static Topic withConfigs(MetadataImage image, Topic topic, SortedMap<String, String> configs) {
        int acks = acksOf(image, configs, topic.replicas());
        return new Topic(topic.id(), topic.name(), topic.partitions(), topic.replicas(), acks, configs);
    }

    private static void checkConfigs(SortedMap<String, String> configs) {
        configs.forEach((key, value) -> unless(
                value.length() <= CONFIG_LENGTH_MAX,
                Reason.INVALID_CONFIG,
                "The value of " + key + " is longer than " + CONFIG_LENGTH_MAX + " characters"));
        refuse(TopicConfigSchema.problemOf(configs));
    }

    private static void refuse(Optional<String> problem) {
        problem.ifPresent(line -> {
            throw new Rejection(Reason.INVALID_CONFIG, line);
        });
    }

    private static int acksOf(MetadataImage image, Map<String, String> configs, int replicas) {
        return Math.min(TopicConfigs.of(configs, image.clusterConfigs()).intOf("min.insync.replicas"), replicas);
    }

    private static void addPartitions(Draft draft, TopicId topic, int from, int to) {
        OwnershipPlanner planner = new OwnershipPlanner(draft.image());
        for (int index = from; index < to; index++) {
            PartitionId id = new PartitionId(topic, index);
            draft.putPartition(id, planner.choose(id, PartitionState.NO_OWNER), 0, 0);
        }
    }

    private static Topic find(MetadataImage image, TopicId id) {
        return image.topic(id).orElseThrow(() -> new Rejection(Reason.NOT_FOUND, "No topic with id " + id));
    }

    private static int clusterNumber(MetadataImage image, String key, int otherwise) {
        String value = image.clusterConfigs().get(key);
        try {
            return value == null ? otherwise : Integer.parseInt(value.trim());
        } catch (NumberFormatException notOne) {
            return otherwise;
        }
    }
}
