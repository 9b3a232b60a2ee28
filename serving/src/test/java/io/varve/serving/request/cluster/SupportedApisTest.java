package io.varve.serving.request.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.StringJoiner;
import org.apache.kafka.common.protocol.ApiKeys;
import org.junit.jupiter.api.Test;

/** P1, P2, P5 of the user reports: the version table is decided, not found. */
final class SupportedApisTest {

    /** Kafka 4.4's ranges for all that is served. A change here is a change of what every client is told. */
    private static final String PINNED = """
            PRODUCE 3-13
            FETCH 4-18
            LIST_OFFSETS 1-11
            METADATA 0-13
            OFFSET_COMMIT 2-10
            OFFSET_FETCH 1-10
            FIND_COORDINATOR 0-6
            JOIN_GROUP 0-9
            HEARTBEAT 0-4
            LEAVE_GROUP 0-5
            SYNC_GROUP 0-5
            DESCRIBE_GROUPS 0-6
            LIST_GROUPS 0-5
            SASL_HANDSHAKE 0-1
            API_VERSIONS 0-5
            CREATE_TOPICS 2-7
            DELETE_TOPICS 1-6
            DELETE_RECORDS 0-2
            INIT_PRODUCER_ID 0-5
            OFFSET_FOR_LEADER_EPOCH 2-4
            ADD_PARTITIONS_TO_TXN 0-5
            ADD_OFFSETS_TO_TXN 0-4
            END_TXN 0-5
            WRITE_TXN_MARKERS 1-2
            TXN_OFFSET_COMMIT 0-6
            DESCRIBE_ACLS 1-3
            CREATE_ACLS 1-3
            DELETE_ACLS 1-3
            DESCRIBE_CONFIGS 1-4
            ALTER_CONFIGS 0-2
            ALTER_REPLICA_LOG_DIRS 1-2
            DESCRIBE_LOG_DIRS 1-5
            SASL_AUTHENTICATE 0-2
            CREATE_PARTITIONS 0-3
            CREATE_DELEGATION_TOKEN 1-3
            RENEW_DELEGATION_TOKEN 1-2
            EXPIRE_DELEGATION_TOKEN 1-2
            DESCRIBE_DELEGATION_TOKEN 1-3
            DELETE_GROUPS 0-3
            ELECT_LEADERS 0-2
            INCREMENTAL_ALTER_CONFIGS 0-1
            ALTER_PARTITION_REASSIGNMENTS 0-1
            LIST_PARTITION_REASSIGNMENTS 0-0
            OFFSET_DELETE 0-0
            DESCRIBE_CLIENT_QUOTAS 0-1
            ALTER_CLIENT_QUOTAS 0-1
            DESCRIBE_USER_SCRAM_CREDENTIALS 0-0
            ALTER_USER_SCRAM_CREDENTIALS 0-0
            DESCRIBE_QUORUM 0-2
            UPDATE_FEATURES 0-2
            DESCRIBE_CLUSTER 0-2
            DESCRIBE_PRODUCERS 0-0
            DESCRIBE_TRANSACTIONS 0-0
            LIST_TRANSACTIONS 0-2
            CONSUMER_GROUP_HEARTBEAT 0-1
            CONSUMER_GROUP_DESCRIBE 0-1
            LIST_CONFIG_RESOURCES 0-1
            DESCRIBE_TOPIC_PARTITIONS 0-0
            SHARE_GROUP_HEARTBEAT 1-1
            SHARE_GROUP_DESCRIBE 1-1
            SHARE_FETCH 1-2
            SHARE_ACKNOWLEDGE 1-2
            INITIALIZE_SHARE_GROUP_STATE 0-0
            READ_SHARE_GROUP_STATE 0-0
            WRITE_SHARE_GROUP_STATE 0-1
            DELETE_SHARE_GROUP_STATE 0-0
            READ_SHARE_GROUP_STATE_SUMMARY 0-1
            STREAMS_GROUP_HEARTBEAT 0-1
            STREAMS_GROUP_DESCRIBE 0-1
            DESCRIBE_SHARE_GROUP_OFFSETS 0-1
            ALTER_SHARE_GROUP_OFFSETS 0-0
            DELETE_SHARE_GROUP_OFFSETS 0-0
            """;

    @Test
    void theVersionTableIsKafkas() {
        StringJoiner table = new StringJoiner("\n", "", "\n");
        for (Map.Entry<ApiKeys, SupportedApis.Range> served :
                SupportedApis.served().entrySet()) {
            table.add(served.getKey() + " " + served.getValue().least() + "-"
                    + served.getValue().most());
        }
        assertThat(table.toString()).isEqualTo(PINNED);
    }

    @Test
    void produceIsSaidToStartAtZeroAndServedFromThree() {
        assertThat(SupportedApis.advertised(ApiKeys.PRODUCE)).isEqualTo(new SupportedApis.Range((short) 0, (short) 13));
        assertThat(SupportedApis.served().get(ApiKeys.PRODUCE))
                .isEqualTo(new SupportedApis.Range((short) 3, (short) 13));
    }
}
