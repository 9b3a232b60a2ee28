package io.varve.itest.cluster;

import io.varve.cli.link.MetadataLink;
import io.varve.cli.local.ClusterLayout;
import io.varve.cli.process.ChildProcess;
import io.varve.cli.role.RoleProcess;
import io.varve.metadata.api.MetadataView;
import io.varve.protocol.config.NodeAddress;
import io.varve.testing.TestPorts;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.config.ConfigResource;

/**
 * A cluster of real processes on this machine, each with its own JVM, data directory and log, on ports of the loopback interface that are this test process's own.
 * Used by one thread, except where a method says otherwise.
 */
public final class ProcessCluster implements AutoCloseable {

    /** A machine that builds and tests at once can be slow. */
    private static final String METADATA_WAIT_MS = "180000";

    private static final Duration START_TIMEOUT = Duration.ofMinutes(4);

    private final Path directory;
    private final ClusterShape shape;
    private final ClusterLayout layout;
    private final Optional<NetworkNamespaces> network;
    private final SortedMap<String, ChildProcess> processes = new TreeMap<>();

    /** Opened by who asks first; null before. */
    private MetadataLink link;

    ProcessCluster(Path directory, ClusterShape shape) throws IOException {
        this(directory, shape, Optional.empty());
    }

    /** @param network gets a host for each process, named as the process is; without one all are on the loopback interface */
    ProcessCluster(Path directory, ClusterShape shape, Optional<NetworkNamespaces> network) throws IOException {
        this.directory = directory;
        this.shape = shape;
        this.layout = ClusterLayout.of(directory, shape.metadata(), shape.bookies(), shape.brokers(), TestPorts.own());
        this.network = network;
        if (network.isPresent()) {
            for (String host : hosts()) {
                network.get().add(host);
            }
        }
    }

    /** The names of all processes that there may be. */
    List<String> hosts() {
        return List.copyOf(portsOfHosts().values());
    }

    private SortedMap<Integer, String> portsOfHosts() {
        SortedMap<Integer, String> hosts = new TreeMap<>();
        name(hosts, "metadata", layout.metadataPorts());
        name(hosts, "bookie", layout.bookiePorts());
        name(hosts, "broker", layout.brokerPorts());
        return hosts;
    }

    private static void name(SortedMap<Integer, String> hosts, String role, List<Integer> ports) {
        for (int i = 0; i < ports.size(); i++) {
            hosts.put(ports.get(i), role + "-" + (i + 1));
        }
    }

    /** A text with addresses of the loopback interface, with those of the hosts in their place. */
    private String placed(String text) {
        if (network.isEmpty()) {
            return text;
        }
        SortedMap<Integer, String> hosts = portsOfHosts();
        name(hosts, "metadata", layout.raftPorts());
        String placed = text;
        for (Map.Entry<Integer, String> host : hosts.entrySet()) {
            placed = placed.replaceAll(
                    "127\\.0\\.0\\.1:" + host.getKey() + "(?![0-9])",
                    network.get().addressOf(host.getValue()) + ":" + host.getKey());
        }
        return placed.equals("127.0.0.1") ? "0.0.0.0" : placed;
    }

    /** The metadata nodes, for clients of theirs. */
    List<NodeAddress> metadataNodes() {
        return Arrays.stream(placed(layout.metadataServers()).split(","))
                .map(NodeAddress::parse)
                .toList();
    }

    /** Starts everything, and waits until it is ready: bookies, which wait for the metadata service themselves, with it, and then the brokers. */
    public void startAll() throws IOException {
        List<ChildProcess> starting = launchEach(shape.metadata(), this::launchMetadata);
        starting.addAll(launchEach(shape.bookies(), this::launchBookie));
        starting.forEach(ProcessCluster::awaitReady);
        launchEach(shape.brokers(), this::launchBroker).forEach(ProcessCluster::awaitReady);
    }

    /** Starts all bookies, then all brokers, and waits until they are ready. */
    void startBookiesAndBrokers() throws IOException {
        launchEach(shape.bookies(), this::launchBookie).forEach(ProcessCluster::awaitReady);
        launchEach(shape.brokers(), this::launchBroker).forEach(ProcessCluster::awaitReady);
    }

    private static List<ChildProcess> launchEach(int count, Launch launch) throws IOException {
        List<ChildProcess> starting = new ArrayList<>();
        for (int id = 1; id <= count; id++) {
            starting.add(launch.node(id));
        }
        return starting;
    }

    private interface Launch {
        ChildProcess node(int id) throws IOException;
    }

    /** Starts a metadata node, without waiting for it. */
    public ChildProcess launchMetadata(int id) throws IOException {
        closeLink();
        return launch("metadata", id, layout.metadata(id), shape.metadataConfig());
    }

    /** Starts a bookie, without waiting for it. */
    public ChildProcess launchBookie(int id) throws IOException {
        return launch("bookie", id, layout.bookie(id), shape.bookieConfig());
    }

    /** Starts a broker, without waiting for it. */
    public ChildProcess launchBroker(int id) throws IOException {
        return launch("broker", id, layout.broker(id), shape.brokerConfig());
    }

    /** Starts a broker once more while the process before it lives, on another port, without waiting for it. The caller ends the one before. */
    public ChildProcess launchBrokerBeside(int id, String listener) throws IOException {
        SortedMap<String, String> config = new TreeMap<>(shape.brokerConfig());
        config.put("listeners", listener);
        processes.put("broker-" + id + "-before", processes.remove("broker-" + id));
        return launch("broker", id, layout.broker(id), config);
    }

    private ChildProcess launch(String role, int id, SortedMap<String, String> config, Map<String, String> overrides)
            throws IOException {
        String name = role + "-" + id;
        ChildProcess before = processes.get(name);
        if (before != null && before.isAlive()) {
            throw new IllegalStateException(name + " runs already");
        }
        SortedMap<String, String> placed = new TreeMap<>(config);
        placed.replaceAll((key, value) -> placed(value));
        ChildProcess process = launch(
                name,
                role,
                placed,
                overrides,
                logOf(name),
                network.map(hosts -> hosts.on(name)).orElse(List.of()),
                shape.isMeasured());
        processes.put(name, process);
        return process;
    }

    static ChildProcess launch(
            String name, String role, SortedMap<String, String> config, Map<String, String> overrides, Path log)
            throws IOException {
        return launch(name, role, config, overrides, log, List.of(), false);
    }

    /**
     * @param by a command that runs the process, and ends with it; empty for none
     * @param isMeasured see {@link ClusterShape}
     */
    private static ChildProcess launch(
            String name,
            String role,
            SortedMap<String, String> config,
            Map<String, String> overrides,
            Path log,
            List<String> by,
            boolean isMeasured)
            throws IOException {
        SortedMap<String, String> all = new TreeMap<>(config);
        all.put(role.equals("metadata") ? "metadata.ready.timeout.ms" : "metadata.wait.ms", METADATA_WAIT_MS);
        all.putAll(overrides);
        List<String> arguments = new ArrayList<>(List.of(role, "--while-input-open"));
        all.forEach((key, value) -> arguments.addAll(List.of("--set", key + "=" + value)));
        List<String> command = new ArrayList<>(by);
        command.addAll(isMeasured ? Distribution.measuredCommand(arguments) : Distribution.command("384m", arguments));
        return ChildProcess.start(name, command, RoleProcess.READY, log);
    }

    /** Waits until a process says that it is ready. */
    public static void awaitReady(ChildProcess process) {
        try {
            process.ready().get(START_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (Exception e) {
            throw new AssertionError(
                    process.name() + " did not get ready: " + e + "\n" + String.join("\n", process.lastLines()));
        }
    }

    /** A metadata node. */
    public ChildProcess metadata(int id) {
        return processes.get("metadata-" + id);
    }

    /** A bookie. */
    public ChildProcess bookie(int id) {
        return processes.get("bookie-" + id);
    }

    /** A broker. */
    public ChildProcess broker(int id) {
        return processes.get("broker-" + id);
    }

    /** What all processes of that name print. */
    Path logOf(String name) {
        return directory.resolve("logs").resolve(name + ".log");
    }

    /** All of them, the ended ones too. */
    public Collection<ChildProcess> processes() {
        return processes.values();
    }

    /** Kills -9 everything at once: no process is gone before the last one was sent the signal. */
    public void killAll() {
        closeLink();
        processes.values().forEach(ChildProcess::killWithoutWaiting);
        processes.values().forEach(ChildProcess::kill);
    }

    /** What the nodes were configured with. */
    public ClusterLayout layout() {
        return layout;
    }

    /** What the metadata service says now; linearizable. */
    public MetadataView view() {
        if (link == null) {
            link = MetadataLink.open(metadataNodes(), Duration.ofSeconds(60));
        }
        return link.client().linearizable().join();
    }

    /** Who asks next waits until the metadata service is there, and asks what is there then: it may be another cluster's. */
    private void closeLink() {
        if (link != null) {
            link.close();
            link = null;
        }
    }

    /** All brokers, for clients. */
    public String bootstrap() {
        return placed(layout.bootstrap());
    }

    /** An admin client of all brokers. The caller closes it. */
    public Admin admin() {
        return Admin.create(Map.of(
                "bootstrap.servers",
                bootstrap(),
                "default.api.timeout.ms",
                "60000",
                "reconnect.backoff.max.ms",
                "200"));
    }

    /** Creates a topic and waits until every partition has an owner. */
    public void createTopic(String topic, int partitions, Map<String, String> configs) throws Exception {
        try (Admin admin = admin()) {
            admin.createTopics(List.of(new NewTopic(topic, partitions, (short) -1).configs(configs)))
                    .all()
                    .get(60, TimeUnit.SECONDS);
        }
    }

    /** Sets one configuration of a topic, a broker or, of the broker with no name, the cluster. */
    public void set(ConfigResource of, String key, String value) throws Exception {
        AlterConfigOp change = new AlterConfigOp(new ConfigEntry(key, value), AlterConfigOp.OpType.SET);
        try (Admin admin = admin()) {
            admin.incrementalAlterConfigs(Map.of(of, List.of(change))).all().get(60, TimeUnit.SECONDS);
        }
    }

    /** The broker that owns a partition now. */
    public int ownerOf(String topic, int partition) throws Exception {
        try (Admin admin = admin()) {
            return admin.describeTopics(List.of(topic))
                    .allTopicNames()
                    .get(60, TimeUnit.SECONDS)
                    .get(topic)
                    .partitions()
                    .get(partition)
                    .leader()
                    .id();
        }
    }

    @Override
    public void close() {
        killAll();
    }
}
