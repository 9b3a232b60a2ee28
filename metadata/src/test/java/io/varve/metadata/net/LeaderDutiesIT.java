package io.varve.metadata.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.base.FaultHandler;
import io.varve.metadata.core.MetadataImage;
import io.varve.metadata.raft.RaftListener;
import io.varve.metadata.raft.RaftNode;
import io.varve.metadata.raft.RaftPeerAddress;
import io.varve.metadata.raft.RaftSettings;
import io.varve.metadata.testing.MetadataCluster;
import io.varve.protocol.meta.MetadataRecord;
import io.varve.protocol.rpc.RpcBounds;
import io.varve.protocol.rpc.RpcClient;
import io.varve.protocol.rpc.RpcClientOptions;
import io.varve.protocol.rpc.RpcIdentity;
import io.varve.protocol.rpc.RpcLoops;
import io.varve.protocol.rpc.RpcRole;
import io.varve.protocol.runtime.SystemClock;
import io.varve.protocol.runtime.SystemRandomness;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The leader's duties with a real log. */
@Timeout(90)
class LeaderDutiesIT {

    private static final FaultHandler FAULTS = (where, fault) -> {
        throw new AssertionError(where, fault);
    };

    @TempDir
    Path directory;

    /** On a slow machine an election is over before the start of the log has returned. */
    @Test
    void aNodeThatLeadsBeforeItsDutiesBeginHasThemAllTheSame() throws Exception {
        RaftPeerAddress self = MetadataCluster.newPeer(1);
        RpcIdentity identity = new RpcIdentity(RpcRole.METADATA, 1, 1, "");
        CountDownLatch leads = new CountDownLatch(1);
        try (RpcLoops loops = RpcLoops.start("test-rpc", 1);
                RpcClient peers = new RpcClient(new RpcClientOptions(
                        () -> identity,
                        loops,
                        SystemClock.INSTANCE,
                        SystemRandomness.INSTANCE,
                        FAULTS,
                        RpcBounds.DEFAULT));
                LeaderDuties duties = new LeaderDuties(
                        ServiceSettings.DEFAULT,
                        SystemClock.INSTANCE,
                        SystemRandomness.INSTANCE,
                        FAULTS,
                        new SimpleMeterRegistry(),
                        peers);
                RaftNode node = RaftNode.start(
                        RaftSettings.of(1, List.of(self), "test", directory),
                        false,
                        Optional.empty(),
                        new LeadershipOf(duties, leads),
                        FAULTS)) {
            assertThat(leads.await(30, TimeUnit.SECONDS)).isTrue();
            duties.start(node);
            MetadataCluster.await(
                    "the leader to form the cluster",
                    30_000,
                    () -> !node.image().clusterId().isEmpty());
        }
    }

    /** Tells the duties of the leadership alone. */
    private record LeadershipOf(LeaderDuties duties, CountDownLatch leads) implements RaftListener {
        @Override
        public void onApplied(MetadataImage before, MetadataImage after, List<MetadataRecord> records) {}

        @Override
        public void onRestored(MetadataImage image) {}

        @Override
        public void onLeading() {
            duties.onLeading();
            leads.countDown();
        }

        @Override
        public void onFollowing() {
            duties.onFollowing();
        }
    }
}
