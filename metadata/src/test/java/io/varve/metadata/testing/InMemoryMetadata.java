package io.varve.metadata.testing;

import io.varve.base.BookieId;
import io.varve.base.Clock;
import io.varve.base.TopicId;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataDelta;
import io.varve.metadata.api.MetadataException;
import io.varve.metadata.api.MetadataException.Reason;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.core.CommandHistory;
import io.varve.metadata.core.Deltas;
import io.varve.metadata.core.FeatureLevels;
import io.varve.metadata.core.ImageRecords;
import io.varve.metadata.core.MetadataImage;
import io.varve.metadata.core.MetadataStateMachine;
import io.varve.metadata.core.Plan;
import io.varve.metadata.core.Planner;
import io.varve.metadata.core.PlannerSettings;
import io.varve.metadata.core.SnapshotReplay;
import io.varve.protocol.meta.CommandReply;
import io.varve.protocol.meta.ExpireSessionCommand;
import io.varve.protocol.meta.FormClusterCommand;
import io.varve.protocol.meta.MetadataCommand;
import io.varve.protocol.meta.MetadataRecord;
import io.varve.protocol.meta.PlanCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * The metadata service for tests and simulations: the real state machine and the real planners behind a log of one, in this process. Deterministic: what happens is a function of the
 * calls, the clock and the seed. Commands are carried out on the caller's thread; each client learns of changes, in order, through the executor it was made with.
 *
 * <p>Nobody's session ends by itself: {@link #expireBroker} and {@link #expireBookie} play the leader that noticed a silence. Nothing is planned by itself: {@link #plan} does it.
 *
 * <p>Safe for several threads, as far as the executors are.
 */
public final class InMemoryMetadata {

    private final Clock clock;
    private final PlannerSettings settings;
    private final SplittableRandom random;
    private final List<InMemoryClient> clients = new ArrayList<>();
    private MetadataStateMachine machine = new MetadataStateMachine(MetadataImage.EMPTY, CommandHistory.EMPTY);
    private Plan.Cursor cursor = Plan.Cursor.START;
    private long index;
    private boolean reachable = true;
    private int answersToLose;
    private LeaderDeath death = LeaderDeath.NONE;

    /** When the leader dies with a command in its hands. */
    private enum LeaderDeath {
        NONE,
        BEFORE_COMMIT,
        AFTER_COMMIT
    }

    /** A cluster {@code test} without nodes. */
    public InMemoryMetadata(Clock clock, long seed) {
        this(clock, seed, PlannerSettings.DEFAULT);
    }

    /** A cluster {@code test} without nodes, planned for by {@code settings}. */
    public InMemoryMetadata(Clock clock, long seed, PlannerSettings settings) {
        this.clock = clock;
        this.settings = settings;
        this.random = new SplittableRandom(seed);
        carryOut(MetadataCommand.newBuilder()
                .setFormCluster(
                        FormClusterCommand.newBuilder().setClusterId("test").setFeatureLevel(FeatureLevels.LATEST)));
    }

    /** A client that is told of changes on the thread that makes them. */
    public MetadataClient newClient() {
        return newClient(Runnable::run);
    }

    /** A client that is told of changes, and gets its answers, through {@code executor}, which must keep their order. */
    public synchronized MetadataClient newClient(Executor executor) {
        InMemoryClient client = new InMemoryClient(this, executor, machine.image());
        clients.add(client);
        return client;
    }

    /** Registers {@code count} bookies with ids from 1 on, each with one directory, as if they ran. */
    public InMemoryMetadata withBookies(int count) {
        MetadataClient client = newClient();
        for (int id = 1; id <= count; id++) {
            client.registerBookie(new MetadataClient.BookieRegistration(
                            new BookieId(id),
                            100 + id,
                            List.of(1_000L + id),
                            "",
                            "localhost",
                            9_000 + id,
                            1L << 40,
                            1L << 40))
                    .join();
        }
        return this;
    }

    /** The state after everything carried out. */
    public synchronized MetadataView view() {
        return machine.image();
    }

    /** The real state, for oracles that know it. */
    public synchronized MetadataImage image() {
        return machine.image();
    }

    /** Ends a broker's session as its silence would. Nothing if it isn't that incarnation's. */
    public void expireBroker(int broker, long incarnation) {
        carryOut(MetadataCommand.newBuilder()
                .setExpireSession(
                        ExpireSessionCommand.newBuilder().setBroker(broker).setSessionId(incarnation)));
    }

    /** Ends a bookie's session as its silence would. Nothing if it isn't that session. */
    public void expireBookie(BookieId bookie, long sessionId) {
        carryOut(MetadataCommand.newBuilder()
                .setExpireSession(ExpireSessionCommand.newBuilder()
                        .setBookie(bookie.value())
                        .setSessionId(sessionId)));
    }

    /** Has the planners look once. Returns how many steps they proposed. */
    public synchronized int plan() {
        Plan plan = Planner.plan(machine.image(), clock.wallTimeMs(), settings, cursor);
        cursor = plan.next();
        if (!plan.steps().isEmpty()) {
            carryOut(MetadataCommand.newBuilder()
                    .setPlan(PlanCommand.newBuilder().addAllSteps(plan.steps())));
        }
        return plan.steps().size();
    }

    /** Whether commands are refused as UNAVAILABLE: no quorum. */
    public synchronized void setReachable(boolean reachable) {
        this.reachable = reachable;
    }

    /** The next {@code count} commands of clients are carried out, but answered with UNKNOWN_OUTCOME. */
    public synchronized void loseAnswers(int count) {
        answersToLose = count;
    }

    /** Kills the leader. Its successor starts from what a snapshot keeps of the committed state, and knows nothing of how far its predecessor had planned. */
    public synchronized void killLeader() {
        MetadataImage image = machine.image();
        SnapshotReplay kept = new SnapshotReplay();
        ImageRecords.stream(image).forEach(kept::add);
        machine = new MetadataStateMachine(kept.finish(image.version(), image.digest()), machine.history());
        cursor = Plan.Cursor.START;
    }

    /**
     * The leader dies as the next command of a client reaches it. The client doesn't learn its outcome.
     *
     * @param isCommitted whether it got as far as the log
     */
    public synchronized void killLeaderAtNextCommand(boolean isCommitted) {
        death = isCommitted ? LeaderDeath.AFTER_COMMIT : LeaderDeath.BEFORE_COMMIT;
    }

    /** No answer is lost and no leader dies from now on. */
    public synchronized void endFaults() {
        answersToLose = 0;
        death = LeaderDeath.NONE;
    }

    synchronized CompletableFuture<CommandReply> submit(MetadataCommand.Builder command) {
        if (!reachable) {
            return CompletableFuture.failedFuture(new MetadataException(Reason.UNAVAILABLE, "No quorum"));
        }
        if (death == LeaderDeath.BEFORE_COMMIT) {
            return unknownOutcome();
        }
        CommandReply reply = carryOut(command);
        if (death == LeaderDeath.AFTER_COMMIT) {
            return unknownOutcome();
        }
        if (answersToLose > 0) {
            answersToLose--;
            return unknownOutcome();
        }
        return CompletableFuture.completedFuture(reply);
    }

    private CompletableFuture<CommandReply> unknownOutcome() {
        if (death != LeaderDeath.NONE) {
            death = LeaderDeath.NONE;
            killLeader();
        }
        return CompletableFuture.failedFuture(new MetadataException(Reason.UNKNOWN_OUTCOME, "No answer in time"));
    }

    synchronized boolean isReachable() {
        return reachable;
    }

    synchronized void forget(InMemoryClient client) {
        clients.remove(client);
    }

    synchronized TopicId newTopicId() {
        return new TopicId(random.nextLong(), random.nextLong() | 1);
    }

    private synchronized CommandReply carryOut(MetadataCommand.Builder command) {
        MetadataImage before = machine.image();
        MetadataCommand stamped =
                command.setNowMs(clock.wallTimeMs()).setSeed(random.nextLong()).build();
        MetadataStateMachine.Applied applied = machine.apply(++index, stamped);
        List<MetadataRecord> records = applied.records();
        if (!records.isEmpty()) {
            MetadataDelta delta = Deltas.of(before, records);
            List<InMemoryClient> all = List.copyOf(clients);
            MetadataImage after = machine.image();
            all.forEach(client -> client.advance(after, delta));
            all.forEach(InMemoryClient::tell);
        }
        return applied.reply();
    }
}
