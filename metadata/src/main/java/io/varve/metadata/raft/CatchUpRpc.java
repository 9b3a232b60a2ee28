package io.varve.metadata.raft;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.grpc.GrpcFactory;
import org.apache.ratis.grpc.server.GrpcLogAppender;
import org.apache.ratis.rpc.RpcFactory;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.apache.ratis.server.leader.LogAppender;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ratis's gRPC, with one more case in which a follower is sent the snapshot: when it needs the very first entry that the leader's log still has. Ratis sends that entry, for which it must name the one before, which is purged; it
 * fails, and that follower never catches up. It is no rare case: a file of the log ends where a term does, so it is what every leader finds that died and was away until the others had purged what they had from it.
 *
 * <p>And a sender that fails is replaced. Ratis means to do so, but takes one that failed for one that was stopped: whatever fails it once, such as a purge at the wrong moment, cuts its follower off for the rest of the term.
 */
final class CatchUpRpc implements RpcType {

    private static final Logger LOG = LoggerFactory.getLogger(CatchUpRpc.class);

    /** Not so long that the follower stands for election meanwhile. */
    private static final long AGAIN_MS = 100;

    /** By this name Ratis finds the class. */
    @Override
    public String name() {
        return CatchUpRpc.class.getName();
    }

    @Override
    public RpcFactory newFactory(Parameters parameters) {
        return new Factory(parameters);
    }

    private static final class Factory extends GrpcFactory {

        Factory(Parameters parameters) {
            super(parameters);
        }

        @Override
        public LogAppender newLogAppender(RaftServer.Division server, LeaderState leader, FollowerInfo follower) {
            return new Appender(server, leader, follower);
        }
    }

    private static final class Appender extends GrpcLogAppender {

        Appender(RaftServer.Division server, LeaderState leader, FollowerInfo follower) {
            super(server, leader, follower);
        }

        @Override
        public void run() throws IOException {
            try {
                super.run();
            } catch (InterruptedIOException stopping) {
                throw stopping;
            } catch (IOException | RuntimeException failed) {
                LOG.warn(
                        "event=log_sender_failed follower={} reason=\"{}\"",
                        getFollower().getId(),
                        failed.toString());
                startAnew();
            }
        }

        private void startAnew() throws InterruptedIOException {
            try {
                TimeUnit.MILLISECONDS.sleep(AGAIN_MS);
            } catch (InterruptedException stopping) {
                throw new InterruptedIOException(stopping.getMessage());
            }
            if (isRunning()) {
                getLeaderState().restart(this);
            }
        }

        @Override
        public SnapshotInfo shouldInstallSnapshot() {
            SnapshotInfo needed = super.shouldInstallSnapshot();
            return needed == null && isEntryBeforeLost() ? newestSnapshot() : needed;
        }

        private SnapshotInfo newestSnapshot() {
            return getServer().getStateMachine().getLatestSnapshot();
        }

        private boolean isEntryBeforeLost() {
            RaftLog log = getRaftLog();
            long next = getFollower().getNextIndex();
            if (next != log.getStartIndex() || next >= log.getNextIndex() || next <= RaftLog.LEAST_VALID_LOG_INDEX) {
                return false;
            }
            SnapshotInfo snapshot = newestSnapshot();
            return snapshot != null
                    && snapshot.getTermIndex().getIndex() != next - 1
                    && getFollower().getSnapshotIndex() != next - 1
                    && log.getTermIndex(next - 1) == null;
        }
    }
}
