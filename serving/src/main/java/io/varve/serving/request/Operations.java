package io.varve.serving.request;

import java.util.List;
import org.apache.kafka.common.acl.AclOperation;

/** The operations a client may do, as the bit fields of Kafka's answers (KIP-430): all there are, for nothing is forbidden yet. */
public final class Operations {

    /** On a topic. */
    public static final int TOPIC = bits(List.of(
            AclOperation.READ,
            AclOperation.WRITE,
            AclOperation.CREATE,
            AclOperation.DESCRIBE,
            AclOperation.DELETE,
            AclOperation.ALTER,
            AclOperation.DESCRIBE_CONFIGS,
            AclOperation.ALTER_CONFIGS));

    /** On the cluster. */
    public static final int CLUSTER = bits(List.of(
            AclOperation.CREATE,
            AclOperation.CLUSTER_ACTION,
            AclOperation.DESCRIBE_CONFIGS,
            AclOperation.ALTER_CONFIGS,
            AclOperation.IDEMPOTENT_WRITE,
            AclOperation.ALTER,
            AclOperation.DESCRIBE));

    /** The value that says that nobody asked. */
    public static final int NOT_ASKED = Integer.MIN_VALUE;

    private Operations() {}

    private static int bits(List<AclOperation> operations) {
        int bits = 0;
        for (AclOperation operation : operations) {
            bits |= 1 << operation.code();
        }
        return bits;
    }
}
