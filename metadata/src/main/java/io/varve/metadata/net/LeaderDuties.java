package io.varve.metadata.net;

import io.micrometer.core.instrument.MeterRegistry;
import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.base.Randomness;
import io.varve.metadata.core.FeatureLevels;
import io.varve.metadata.core.MetadataImage;
import io.varve.metadata.core.Plan;
import io.varve.metadata.core.Planner;
import io.varve.metadata.core.SessionLiveness;
import io.varve.metadata.core.SessionLiveness.Key;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.net.DutyGuard.Duty;
import io.varve.metadata.raft.RaftNode;
import io.varve.metadata.raft.RaftPeerAddress;
import io.varve.protocol.meta.CommandReply;
import io.varve.protocol.meta.ExpireSessionCommand;
import io.varve.protocol.meta.FormClusterCommand;
import io.varve.protocol.meta.MetadataCommand;
import io.varve.protocol.meta.PlanCommand;
import io.varve.protocol.meta.PlanStep;
import io.varve.protocol.rpc.RpcClient;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the leader does of its own accord: forms the cluster, watches sessions, and has the planners look. Runs on two threads of its own, one for what must be prompt and one for the planners; all of
 * it stops when another node leads, and is harmless if it goes on a little longer, for a leader that was deposed gets nothing into the log.
 */
final class LeaderDuties implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(LeaderDuties.class);
    private static final long TICK_MS = 50;

    /** A tick that comes so late tells of a process that got no processor: what it didn't hear meanwhile is nobody's silence. */
    private static final long STOOD_STILL_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private static final int TICKS_PER_RECONCILIATION = 10;
    private static final int CLIENTS_FORGOTTEN_MAX = 100;

    private final ServiceSettings settings;
    private final Clock clock;
    private final Randomness randomness;
    private final DutyGuard guard;
    private final ScheduledExecutorService prompt = newThread("metadata-leader");
    private final ScheduledExecutorService planning = newThread("metadata-planner");
    private final SessionLiveness liveness;
    private final PeerClocks clocks;
    private final SortedSet<Integer> silentMembers = new TreeSet<>();
    private volatile RaftNode raft;
    private volatile boolean leading;
    private volatile int underReplicated;
    private volatile int underReplicatedSoFar;
    private volatile Plan.Cursor cursor = Plan.Cursor.START;
    private int ticks;
    private long tickedNs;

    LeaderDuties(
            ServiceSettings settings,
            Clock clock,
            Randomness randomness,
            FaultHandler faults,
            MeterRegistry metrics,
            RpcClient peers) {
        this.settings = settings;
        this.guard = new DutyGuard(clock, faults, metrics);
        this.clocks = new PeerClocks(clock, peers, this::execute);
        this.clock = clock;
        this.randomness = randomness;
        this.liveness = new SessionLiveness(settings.sessionTimeoutMs(), settings.dropGraceMs());
    }

    private static ScheduledExecutorService newThread(String name) {
        return Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        });
    }

    /** Begins with this node of the log, which may lead already: an election needs no more than the others' votes. */
    void start(RaftNode node) {
        execute(() -> {
            raft = node;
            if (leading) {
                begin();
            }
        });
        prompt.scheduleWithFixedDelay(
                guard.guarded(Duty.SESSIONS, this::tick), TICK_MS, TICK_MS, TimeUnit.MILLISECONDS);
        planning.scheduleWithFixedDelay(
                guard.guarded(Duty.PLANNING, this::plan),
                settings.planIntervalMs(),
                settings.planIntervalMs(),
                TimeUnit.MILLISECONDS);
    }

    private void execute(Runnable task) {
        try {
            prompt.execute(guard.guarded(Duty.SESSIONS, task));
        } catch (RejectedExecutionException closed) {
            LOG.debug("event=leader_duty_dropped reason=closed");
        }
    }

    void onLeading() {
        execute(() -> {
            leading = true;
            if (raft != null) {
                begin();
            }
        });
    }

    private void begin() {
        clocks.start(raft);
        liveness.clear();
        silentMembers.clear();
        ticks = 0;
        tickedNs = clock.nanoTime();
        underReplicatedSoFar = 0;
        cursor = Plan.Cursor.START;
    }

    void onFollowing() {
        execute(() -> {
            leading = false;
            underReplicated = 0;
            liveness.clear();
            clocks.stop();
        });
    }

    void onDropped(long connection) {
        execute(() -> liveness.onDropped(connection, clock.nanoTime()));
    }

    /** Notes that sessions were heard of, and answers which of them are dead. */
    CompletableFuture<List<Key>> onHeard(List<Key> sessions, long connection) {
        CompletableFuture<List<Key>> answer = new CompletableFuture<>();
        execute(() -> {
            List<Key> dead = new ArrayList<>(sessions);
            SortedSet<Key> alive = aliveIn(raft.image());
            dead.removeAll(alive);
            for (Key session : sessions) {
                if (alive.contains(session)) {
                    liveness.onHeard(session, connection, clock.nanoTime());
                }
            }
            answer.complete(dead);
        });
        return answer;
    }

    /** Whether the process that holds a node's number seems to be there: nobody else may take it. */
    CompletableFuture<Boolean> isPresent(Key session) {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        execute(() -> answer.complete(liveness.isPresent(session, clock.nanoTime())));
        return answer;
    }

    private void tick() {
        if (!leading || raft == null) {
            return;
        }
        long nowNs = clock.nanoTime();
        if (nowNs - tickedNs > STOOD_STILL_NS) {
            LOG.warn("event=leader_stood_still ms={}", TimeUnit.NANOSECONDS.toMillis(nowNs - tickedNs));
            liveness.onStoodStill(nowNs - tickedNs, nowNs);
        }
        tickedNs = nowNs;
        clocks.tick(raft);
        if (ticks++ % TICKS_PER_RECONCILIATION == 0) {
            reconcile();
            lookForSilentMembers();
        }
        for (Key silent : liveness.due(nowNs)) {
            LOG.info(
                    "event=session_expiring node={} id={} session={}",
                    silent.bookie() ? "bookie" : "broker",
                    silent.id(),
                    silent.sessionId());
            ExpireSessionCommand.Builder expire = ExpireSessionCommand.newBuilder()
                    .setSessionId(silent.sessionId())
                    .setReason("silent");
            submit(command()
                    .setExpireSession(silent.bookie() ? expire.setBookie(silent.id()) : expire.setBroker(silent.id())));
        }
    }

    /** Brings what is watched into line with who lives by the metadata. */
    private void reconcile() {
        MetadataImage image = raft.image();
        if (image.clusterId().isEmpty()) {
            submit(command()
                    .setFormCluster(FormClusterCommand.newBuilder()
                            .setClusterId(newClusterId())
                            .setFeatureLevel(FeatureLevels.LATEST)));
        }
        SortedSet<Key> alive = aliveIn(image);
        liveness.watched().stream().filter(key -> !alive.contains(key)).forEach(liveness::forget);
        alive.forEach(key -> liveness.expect(key, clock.nanoTime()));
    }

    /** Says once that a metadata node is not heard of, and once that it is again. */
    private void lookForSilentMembers() {
        for (RaftPeerAddress member : raft.members()) {
            int id = member.nodeId();
            if (raft.isAnswering(id)) {
                if (silentMembers.remove(id)) {
                    LOG.info("event=member_answers node={}", id);
                }
            } else if (silentMembers.add(id)) {
                LOG.warn("event=member_silent node={} host={}", id, member.host());
            }
        }
    }

    private static SortedSet<Key> aliveIn(MetadataImage image) {
        SortedSet<Key> alive = new TreeSet<>();
        for (BrokerInfo broker : image.brokers()) {
            if (broker.state() != BrokerInfo.State.GONE) {
                alive.add(new Key(false, broker.id(), broker.incarnation()));
            }
        }
        for (BookieInfo bookie : image.bookies()) {
            if (bookie.state() != BookieInfo.State.GONE) {
                alive.add(new Key(true, bookie.id().value(), bookie.sessionId()));
            }
        }
        return alive;
    }

    private void plan() {
        if (!leading || raft == null || !clocks.isSettled()) {
            return;
        }
        long nowMs = clocks.nowMs();
        Plan plan = Planner.plan(raft.image(), nowMs, settings.planner(), cursor);
        cursor = plan.next();
        underReplicatedSoFar += plan.underReplicated();
        if (cursor.localOnly() == 0) {
            underReplicated = underReplicatedSoFar;
            underReplicatedSoFar = 0;
        }
        long forgetBeforeMs = nowMs - settings.planner().clientForgetMs();
        List<PlanStep> steps = new ArrayList<>(plan.steps());
        steps.addAll(raft.history().forgettable(forgetBeforeMs, CLIENTS_FORGOTTEN_MAX));
        if (!steps.isEmpty()) {
            // The next look must see what this one leads to, or it would propose it again.
            submit(command().setPlan(PlanCommand.newBuilder().addAllSteps(steps)))
                    .orTimeout(settings.sessionTimeoutMs(), TimeUnit.MILLISECONDS)
                    .exceptionally(trouble -> null)
                    .join();
        }
    }

    private CompletableFuture<CommandReply> submit(MetadataCommand.Builder command) {
        return raft.submit(stamped(command).build()).whenComplete((reply, trouble) -> {
            if (trouble != null) {
                LOG.debug(
                        "event=leader_command_failed body={} reason=\"{}\"", command.getBodyCase(), trouble.toString());
            }
        });
    }

    /** How many sealed segments that object storage doesn't hold have too few copies on living bookies, as the leader last counted; 0 elsewhere. */
    int underReplicated() {
        return underReplicated;
    }

    /** How far this node's clock is ahead of the cluster's time. */
    long clockAheadMs() {
        return raft == null ? 0 : clocks.ownAheadMs(raft.nodeId());
    }

    /** A command with the cluster's time and the leader's chance. */
    MetadataCommand.Builder stamped(MetadataCommand.Builder command) {
        return command.setNowMs(clocks.nowMs()).setSeed(randomness.nextLong());
    }

    private static MetadataCommand.Builder command() {
        return MetadataCommand.newBuilder();
    }

    /** 128 random bits in 22 characters that object keys take too; as Kafka's cluster ids look. */
    private String newClusterId() {
        ByteBuffer bits = ByteBuffer.allocate(16).putLong(randomness.nextLong()).putLong(randomness.nextLong());
        String id = Base64.getUrlEncoder().withoutPadding().encodeToString(bits.array());
        return id.startsWith("-") ? "A" + id.substring(1) : id;
    }

    @Override
    public void close() {
        leading = false;
        prompt.shutdownNow();
        planning.shutdownNow();
    }
}
