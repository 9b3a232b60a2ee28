package io.varve.itest.cluster;

import static io.varve.itest.cluster.SystemCommand.run;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A network of hosts on this machine: each is a network namespace of the kernel with an address of its own, joined to the others by a bridge that this process is on, too. Packets from one to another can be made to vanish, each way
 * by itself, as a broken switch does it: nobody is told, and connections stay open. Needs root on Linux. Used by one thread.
 *
 * <p>A way is cut by telling the sender a hardware address for the receiver that nobody has.
 */
final class NetworkNamespaces implements AutoCloseable {

    private static final String NOBODY = "02:00:00:00:00:99";

    private final String prefix;
    private final int subnet;
    private final SortedMap<String, Integer> hosts = new TreeMap<>();
    private final List<List<String>> cuts = new ArrayList<>();

    /** A network with this process alone. */
    NetworkNamespaces() throws IOException {
        int mine = (int) (ProcessHandle.current().pid() * 31 + System.nanoTime() / 1_000_000);
        this.subnet = Math.floorMod(mine, 250) + 1;
        this.prefix = "vv" + subnet;
        run("ip", "link", "add", bridge(), "type", "bridge");
        run("ip", "addr", "add", address(254) + "/24", "dev", bridge());
        run("ip", "link", "set", bridge(), "up");
    }

    /** Whether this machine lets this process make one. */
    static boolean areThere() {
        try {
            String probe = "vvprobe" + ProcessHandle.current().pid() % 10_000;
            run("ip", "netns", "add", probe);
            run("ip", "netns", "exec", probe, "ip", "link", "set", "lo", "up");
            run("ip", "netns", "del", probe);
            run("ip", "link", "add", probe, "type", "bridge");
            run("ip", "link", "del", probe);
            return true;
        } catch (IOException notAllowed) {
            return false;
        }
    }

    /** Adds a host. */
    void add(String host) throws IOException {
        int number = hosts.size() + 1;
        hosts.put(host, number);
        String namespace = namespace(host);
        String outside = prefix + "e" + number;
        run("ip", "netns", "add", namespace);
        run("ip", "link", "add", outside, "type", "veth", "peer", "name", "eth0", "netns", namespace);
        run("ip", "link", "set", outside, "master", bridge(), "up");
        run("ip", "-n", namespace, "link", "set", "lo", "up");
        run("ip", "-n", namespace, "addr", "add", address(number) + "/24", "dev", "eth0");
        run("ip", "-n", namespace, "link", "set", "eth0", "up");
    }

    /** The command that runs another one on a host. */
    List<String> on(String host) {
        return List.of("ip", "netns", "exec", namespace(host));
    }

    /** A host's address. */
    String addressOf(String host) {
        return address(hosts.get(host));
    }

    /** What {@code from} sends to {@code to} vanishes from now on. */
    void cutOneWay(String from, String to) throws IOException {
        run(
                "ip",
                "-n",
                namespace(from),
                "neigh",
                "replace",
                addressOf(to),
                "lladdr",
                NOBODY,
                "dev",
                "eth0",
                "nud",
                "permanent");
        cuts.add(List.of(from, to));
    }

    /** What the two send to each other vanishes from now on. */
    void cut(String one, String other) throws IOException {
        cutOneWay(one, other);
        cutOneWay(other, one);
    }

    /** Nothing vanishes any longer. */
    void heal() throws IOException {
        for (List<String> way : cuts) {
            run("ip", "-n", namespace(way.get(0)), "neigh", "del", addressOf(way.get(1)), "dev", "eth0");
        }
        cuts.clear();
    }

    private String bridge() {
        return prefix + "br";
    }

    private String namespace(String host) {
        return prefix + "-" + host;
    }

    private String address(int number) {
        return "10.213." + subnet + "." + number;
    }

    /** Takes it all away; what still runs there loses its network. */
    @Override
    public void close() throws IOException {
        for (String host : hosts.keySet()) {
            run("ip", "netns", "del", namespace(host));
        }
        run("ip", "link", "del", bridge());
    }
}
