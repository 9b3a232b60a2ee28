package io.varve.metadata.raft;

import com.google.protobuf.InvalidProtocolBufferException;
import io.varve.base.FaultHandler;
import io.varve.base.StartupException;
import io.varve.metadata.core.CommandHistory;
import io.varve.metadata.core.MetadataImage;
import io.varve.protocol.meta.CommandReply;
import io.varve.protocol.meta.MetadataCommand;
import java.io.IOException;
import java.net.BindException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.proto.RaftProtos.CommitInfoProto;
import org.apache.ratis.proto.RaftProtos.ServerRpcProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.SnapshotManagementRequest;
import org.apache.ratis.protocol.exceptions.LeaderNotReadyException;
import org.apache.ratis.protocol.exceptions.LeaderSteppingDownException;
import org.apache.ratis.protocol.exceptions.NotLeaderException;
import org.apache.ratis.protocol.exceptions.ResourceUnavailableException;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This node's part in the metadata's log. Safe for any thread; futures complete on threads of the log, which must not be blocked.
 */
public final class RaftNode implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(RaftNode.class);

    /** The largest command. */
    public static final int COMMAND_BYTES_MAX = 4 << 20;

    private static final int MESSAGE_BYTES_MAX = 32 << 20;
    private static final long REQUEST_MS = 5_000;
    private static final long ANSWERING_MS = 3_000;
    private static final long BEHIND_ENTRIES = 1_000;

    /** How long a new member is waited for that doesn't catch up any further. */
    private static final long STAGING_MS = 15_000;

    /** Also for how long such a node, when it is no longer alone, sticks to a leader that it hears no more; it stands for election itself as all do. */
    private static final long ALONE_STEP_DOWN_MS = 30_000;

    private static final long FOREVER_MS = 365L * 86_400_000;

    private final RaftSettings settings;
    private final RaftGroupId group;
    private final RaftStateMachine machine;
    private final RaftServer server;
    private final ClientId client = ClientId.randomId();
    private final AtomicLong calls = new AtomicLong(1);

    private RaftNode(
            RaftSettings settings, boolean joins, Optional<Path> backup, RaftListener listener, FaultHandler faults)
            throws IOException {
        this.settings = settings;
        this.group = RaftGroupId.valueOf(
                UUID.nameUUIDFromBytes(("varve/" + settings.groupName()).getBytes(StandardCharsets.UTF_8)));
        this.machine =
                new RaftStateMachine(listener, faults, settings.snapshotEntries(), backup, this::onSnapshotWritten);
        List<RaftPeer> peers = new ArrayList<>();
        if (!joins) {
            settings.peers().forEach(peer -> peers.add(peer(peer)));
        }
        this.server = RaftServer.newBuilder()
                .setServerId(idOf(settings.nodeId()))
                .setGroup(RaftGroup.valueOf(group, peers))
                .setProperties(properties(settings))
                .setStateMachine(machine)
                .setOption(RaftStorage.StartupOption.RECOVER)
                .build();
    }

    /**
     * Starts to take part.
     *
     * @param joins whether it is none of the cluster's nodes yet: it neither votes nor stands for election until the leader has brought it up to date and made it one
     * @param backup the snapshot that an empty log begins with; empty for nothing
     * @throws StartupException PORT_TAKEN, DISK or DIRECTORY_FOREIGN, in a line
     */
    public static RaftNode start(
            RaftSettings settings, boolean joins, Optional<Path> backup, RaftListener listener, FaultHandler faults) {
        RaftNode node = null;
        try {
            node = new RaftNode(settings, joins, backup, listener, faults);
            node.server.start();
            return node;
        } catch (IOException | RuntimeException trouble) {
            if (node != null) {
                node.close();
            }
            throw startupException(settings, trouble);
        }
    }

    private static StartupException startupException(RaftSettings settings, Exception trouble) {
        for (Throwable cause = trouble; cause != null; cause = cause.getCause()) {
            if (cause instanceof BindException) {
                return new StartupException(
                        StartupException.Reason.PORT_TAKEN,
                        "Can't listen on port " + settings.self().raftPort() + " for the other metadata nodes: "
                                + cause.getMessage(),
                        trouble);
            }
        }
        return new StartupException(
                StartupException.Reason.DISK,
                "Can't use the metadata log in " + settings.directory() + ": " + trouble.getMessage(),
                trouble);
    }

    /** The newest state that this node has applied. */
    public MetadataImage image() {
        return machine.image();
    }

    /** The answers given to clients, as far as this node has applied. */
    public CommandHistory history() {
        return machine.history();
    }

    /** Whether this node leads and is ready to. */
    public boolean isLeading() {
        try {
            return server.getDivision(group).getInfo().isLeaderReady();
        } catch (IOException closed) {
            return false;
        }
    }

    /** Whether it still takes part: not after its disk failed, or after it led and was removed. */
    public boolean isAlive() {
        return ofDivision(division -> division.getInfo().isAlive(), false);
    }

    /** Who leads, as far as this node knows. */
    public OptionalInt leaderId() {
        try {
            RaftPeerId leader = server.getDivision(group).getInfo().getLeaderId();
            return leader == null ? OptionalInt.empty() : OptionalInt.of(numberOf(leader));
        } catch (IOException closed) {
            return OptionalInt.empty();
        }
    }

    /** The members as this node knows them. */
    public List<RaftPeerAddress> members() {
        List<RaftPeerAddress> members = new ArrayList<>();
        try {
            for (RaftPeer peer : server.getDivision(group).getRaftConf().getAllPeers()) {
                members.add(address(peer));
            }
        } catch (IOException closed) {
            return settings.peers();
        }
        return members;
    }

    /** This node's number. */
    public int nodeId() {
        return settings.nodeId();
    }

    /** The term, for people. */
    public long term() {
        try {
            return server.getDivision(group).getInfo().getCurrentTerm();
        } catch (IOException closed) {
            return -1;
        }
    }

    /** The index of the last entry applied, for people and measurements. */
    public long appliedIndex() {
        return machine.getLastAppliedTermIndex().getIndex();
    }

    /** The index of the newest snapshot, -1 without one. */
    public long snapshotIndex() {
        return machine.snapshotIndex();
    }

    /** How long ago the newest snapshot was written, by the wall clock; empty without one. */
    public OptionalLong snapshotAgeMs(long nowMs) {
        return machine.snapshotAgeMs(nowMs);
    }

    /** The index up to which the log is committed, as far as this node knows. */
    public long commitIndex() {
        return ofDivision(division -> division.getRaftLog().getLastCommittedIndex(), -1L);
    }

    /** The index of the last entry in this node's log. */
    public long lastIndex() {
        return ofDivision(division -> division.getRaftLog().getNextIndex() - 1, -1L);
    }

    /** The room on the log's disk, in bytes. */
    public long diskFreeBytes() {
        return settings.directory().toFile().getUsableSpace();
    }

    /**
     * Up to which entry each member holds what is committed, durably, as far as this node has heard. Committed entries are never taken back, so that none of them can ever hold less with the same
     * directory.
     */
    public SortedMap<Integer, Long> storedIndexes() {
        SortedMap<Integer, Long> stored = new TreeMap<>();
        for (CommitInfoProto member : ofDivision(RaftServer.Division::getCommitInfos, List.<CommitInfoProto>of())) {
            stored.put(numberOf(RaftPeerId.valueOf(member.getServer().getId())), member.getCommitIndex());
        }
        return stored;
    }

    /** Whether a member was heard of lately; only the leader knows. */
    public boolean isAnswering(int nodeId) {
        if (nodeId == settings.nodeId()) {
            return true;
        }
        return ofDivision(
                        division -> division.getInfo()
                                .getRoleInfoProto()
                                .getLeaderInfo()
                                .getFollowerInfoList(),
                        List.<ServerRpcProto>of())
                .stream()
                .anyMatch(
                        follower -> numberOf(RaftPeerId.valueOf(follower.getId().getId())) == nodeId
                                && follower.getLastRpcElapsedTimeMs() < ANSWERING_MS);
    }

    /** How many members lag or don't answer, as the leader sees it; 0 on any other node. */
    public int membersBehind() {
        if (!isLeading()) {
            return 0;
        }
        long commit = commitIndex();
        SortedMap<Integer, Long> stored = storedIndexes();
        return (int) members().stream()
                .filter(member -> commit - stored.getOrDefault(member.nodeId(), 0L) > BEHIND_ENTRIES
                        || !isAnswering(member.nodeId()))
                .count();
    }

    private <T> T ofDivision(Function<RaftServer.Division, T> question, T otherwise) {
        try {
            return question.apply(server.getDivision(group));
        } catch (IOException closed) {
            return otherwise;
        }
    }

    /** The index of the first entry that the log still holds. */
    public long logStartIndex() {
        try {
            return server.getDivision(group).getRaftLog().getStartIndex();
        } catch (IOException closed) {
            return -1;
        }
    }

    /**
     * Puts a command into the log and answers when it was carried out.
     *
     * @return fails with {@link NotLeader} if it certainly was not, with anything else if it is not known whether it was or will be
     */
    public CompletableFuture<CommandReply> submit(MetadataCommand command) {
        return ask(RaftClientRequest.writeRequestType(), Message.valueOf(ByteString.copyFrom(command.toByteArray())));
    }

    /** The version that contains everything answered before this call (read index). Fails as {@link #submit} does. */
    public CompletableFuture<Long> readIndex() {
        return ask(RaftClientRequest.readRequestType(), Message.EMPTY).thenApply(CommandReply::getVersion);
    }

    private CompletableFuture<CommandReply> ask(RaftClientRequest.Type type, Message message) {
        RaftClientRequest request = RaftClientRequest.newBuilder()
                .setClientId(client)
                .setServerId(server.getId())
                .setGroupId(group)
                .setCallId(calls.getAndIncrement())
                .setMessage(message)
                .setType(type)
                .build();
        try {
            return server.submitClientRequestAsync(request).handle(this::answerOf);
        } catch (IOException notTaken) {
            return CompletableFuture.failedFuture(troubleOf(notTaken));
        }
    }

    private CommandReply answerOf(RaftClientReply reply, Throwable trouble) {
        Throwable failure = trouble != null ? trouble : reply.getException();
        if (failure != null) {
            throw new CompletionException(troubleOf(failure));
        }
        try {
            return CommandReply.parseFrom(reply.getMessage().getContent().asReadOnlyByteBuffer());
        } catch (InvalidProtocolBufferException impossible) {
            throw new CompletionException(impossible);
        }
    }

    private Throwable troubleOf(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        if (cause instanceof NotLeaderException notLeader) {
            RaftPeer leader = notLeader.getSuggestedLeader();
            return new NotLeader(leader == null ? -1 : numberOf(leader.getId()));
        }
        boolean notTaken = cause instanceof LeaderNotReadyException
                || cause instanceof LeaderSteppingDownException
                || cause instanceof ResourceUnavailableException;
        return notTaken ? new NotLeader(-1) : cause;
    }

    /**
     * Makes {@code members} the nodes of the cluster: adds and removes, one change at a time. A new one counts once it has caught up. Answers when the new configuration is
     * committed.
     */
    public CompletableFuture<Void> changeMembers(List<RaftPeerAddress> members) {
        List<RaftPeer> peers = new ArrayList<>();
        members.forEach(member -> peers.add(peer(member)));
        SetConfigurationRequest request = new SetConfigurationRequest(
                client,
                server.getId(),
                group,
                calls.getAndIncrement(),
                SetConfigurationRequest.Arguments.newBuilder()
                        .setServersInNewConf(peers)
                        .build());
        try {
            return server.setConfigurationAsync(request).handle((reply, trouble) -> {
                Throwable failure = trouble != null ? trouble : reply.getException();
                if (failure != null) {
                    throw new CompletionException(troubleOf(failure));
                }
                return null;
            });
        } catch (IOException notTaken) {
            return CompletableFuture.failedFuture(troubleOf(notTaken));
        }
    }

    /** A snapshot is there: has the log learn of it, so that it can be purged up to it. */
    private void onSnapshotWritten() {
        SnapshotManagementRequest request =
                SnapshotManagementRequest.newCreate(client, server.getId(), group, calls.getAndIncrement(), REQUEST_MS);
        server.snapshotManagementAsync(request).whenComplete((reply, trouble) -> {
            if (trouble != null || !reply.isSuccess()) {
                // The next one purges for it.
                LOG.warn(
                        "event=snapshot_not_noted reason=\"{}\"",
                        trouble != null ? trouble.toString() : reply.getException());
            }
        });
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException | RuntimeException trouble) {
            LOG.warn("event=raft_close_failed reason=\"{}\"", trouble.toString());
        }
    }

    private static RaftPeerId idOf(int nodeId) {
        return RaftPeerId.valueOf("n" + nodeId);
    }

    private static int numberOf(RaftPeerId id) {
        return Integer.parseInt(id.toString().substring(1));
    }

    private static RaftPeer peer(RaftPeerAddress peer) {
        // The client port travels as Ratis's client address: each node then knows where to send the clients of another.
        return RaftPeer.newBuilder()
                .setId(idOf(peer.nodeId()))
                .setAddress(peer.host() + ":" + peer.raftPort())
                .setClientAddress(peer.host() + ":" + peer.clientPort())
                .setAdminAddress(peer.host() + ":" + peer.raftPort())
                .build();
    }

    private static RaftPeerAddress address(RaftPeer peer) {
        String raft = peer.getAddress();
        String clients = peer.getClientAddress();
        int colon = raft.lastIndexOf(':');
        return new RaftPeerAddress(
                numberOf(peer.getId()),
                raft.substring(0, colon),
                Integer.parseInt(raft.substring(colon + 1)),
                Integer.parseInt(clients.substring(clients.lastIndexOf(':') + 1)));
    }

    private static RaftProperties properties(RaftSettings settings) {
        RaftProperties properties = new RaftProperties();
        RaftServerConfigKeys.setStorageDir(
                properties, List.of(settings.directory().toFile()));
        RaftServerConfigKeys.setStorageFreeSpaceMin(properties, SizeInBytes.valueOf(0));
        int election = settings.electionTimeoutMs();
        RaftServerConfigKeys.Rpc.setTimeoutMin(properties, ms(election));
        RaftServerConfigKeys.Rpc.setTimeoutMax(properties, ms(2L * election));
        // A node that has nobody to wait for need not wait.
        boolean isAlone = settings.peers().size() == 1;
        int first = isAlone ? Math.min(100, election) : election;
        RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMin(properties, ms(first / 2));
        RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMax(properties, ms(first));
        RaftServerConfigKeys.Rpc.setRequestTimeout(properties, ms(REQUEST_MS));
        RaftServerConfigKeys.Rpc.setSleepTime(properties, ms(50));
        RaftServerConfigKeys.Rpc.setSlownessTimeout(properties, ms(60_000));
        RaftServerConfigKeys.LeaderElection.setPreVote(properties, true);
        // A leader that stood still for so long steps down. With nobody to take its place that only breaks watches.
        RaftServerConfigKeys.LeaderElection.setLeaderStepDownWaitTime(
                properties, ms(isAlone ? ALONE_STEP_DOWN_MS : 2L * election));
        // A process that was stopped and goes on is no reason to end: what it missed it learns.
        RaftServerConfigKeys.setCloseThreshold(properties, ms(FOREVER_MS));
        // Who wakes so late doesn't stand for election but waits once more: with less, nobody would on a busy machine.
        RaftServerConfigKeys.setSleepDeviationThreshold(properties, ms(election));
        RaftServerConfigKeys.LeaderElection.setMemberMajorityAdd(properties, true);
        RaftServerConfigKeys.setStagingTimeout(properties, ms(STAGING_MS));
        RaftServerConfigKeys.Read.setOption(properties, RaftServerConfigKeys.Read.Option.LINEARIZABLE);
        RaftServerConfigKeys.Read.setTimeout(properties, ms(REQUEST_MS));
        RaftServerConfigKeys.Write.setElementLimit(properties, 4_096);
        RaftServerConfigKeys.Write.setByteLimit(properties, SizeInBytes.valueOf(64 << 20));
        // Commands are known by their clients' ids in the state machine itself, which survives a change of leader and a
        // restart.
        RaftServerConfigKeys.RetryCache.setExpiryTime(properties, ms(10_000));
        RaftServerConfigKeys.Log.setSegmentSizeMax(properties, SizeInBytes.valueOf(settings.logSegmentBytes()));
        RaftServerConfigKeys.Log.setPreallocatedSize(properties, SizeInBytes.valueOf(1 << 20));
        RaftServerConfigKeys.Log.setWriteBufferSize(properties, SizeInBytes.valueOf(COMMAND_BYTES_MAX + (2 << 20)));
        RaftServerConfigKeys.Log.setSegmentCacheNumMax(properties, 2);
        // An entry for each advance of the commit index would cost an fsync each; a restarted node learns it from its
        // leader.
        RaftServerConfigKeys.Log.setLogMetadataEnabled(properties, false);
        RaftServerConfigKeys.Log.setPurgeUptoSnapshotIndex(properties, true);
        RaftServerConfigKeys.Log.setPurgeGap(properties, 1);
        RaftServerConfigKeys.Log.setPurgePreservationLogNum(properties, settings.preservedEntries());
        RaftServerConfigKeys.Log.Appender.setBufferByteLimit(
                properties, SizeInBytes.valueOf(COMMAND_BYTES_MAX + (1 << 20)));
        RaftServerConfigKeys.Log.Appender.setInstallSnapshotEnabled(properties, true);
        RaftServerConfigKeys.Log.Appender.setSnapshotChunkSizeMax(properties, SizeInBytes.valueOf(4 << 20));
        RaftServerConfigKeys.Snapshot.setAutoTriggerEnabled(properties, false);
        RaftServerConfigKeys.Snapshot.setCreationGap(properties, 1);
        RaftServerConfigKeys.Snapshot.setRetentionFileNum(properties, 2);
        RaftConfigKeys.Rpc.setType(properties, new CatchUpRpc());
        GrpcConfigKeys.Server.setPort(properties, settings.self().raftPort());
        GrpcConfigKeys.setMessageSizeMax(properties, SizeInBytes.valueOf(MESSAGE_BYTES_MAX));
        return properties;
    }

    private static TimeDuration ms(long ms) {
        return TimeDuration.valueOf(ms, TimeUnit.MILLISECONDS);
    }
}
