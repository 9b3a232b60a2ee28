package io.varve.metadata.model;

/** The names of the topics in which coordinators keep their state. Clients may read them, but neither write nor delete them; what keeps clients back when disks fill up does not keep these back. */
public final class InternalTopics {

    /** Groups and their committed offsets. */
    public static final String CONSUMER_OFFSETS = "__consumer_offsets";

    /** Transactions. */
    public static final String TRANSACTION_STATE = "__transaction_state";

    /** What share groups have of partitions. */
    public static final String SHARE_GROUP_STATE = "__share_group_state";

    private InternalTopics() {}

    /** Whether {@code topic} is one of them. */
    public static boolean isInternal(String topic) {
        return topic.equals(CONSUMER_OFFSETS) || topic.equals(TRANSACTION_STATE) || topic.equals(SHARE_GROUP_STATE);
    }
}
