package io.varve.itest.tier;

import io.varve.cli.process.ChildProcess;
import io.varve.itest.cluster.ProcessCluster;
import io.varve.tiering.testing.PlainS3Server;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/**
 * Who used the processors for how long: the processes of a cluster by role, and in this process the store's threads and all others, which are the clients'. Where everything shares one machine, a rate
 * by itself says little.
 */
final class CpuBill {

    private static final String STORE = "store";
    private static final String CLIENTS = "clients";

    private final ProcessCluster cluster;
    private final Map<String, Long> spentNs = new TreeMap<>();
    private Map<String, Long> atBegin = Map.of();
    private long beganNs;
    private long tookNs;

    CpuBill(ProcessCluster cluster) {
        this.cluster = cluster;
    }

    /** What is used from now on is on the bill, until {@link #end()}; there may be more such times. */
    void begin() {
        atBegin = now();
        beganNs = System.nanoTime();
    }

    void end() {
        tookNs += System.nanoTime() - beganNs;
        now().forEach((who, ns) -> spentNs.merge(who, ns - atBegin.getOrDefault(who, 0L), Long::sum));
    }

    /** A line: seconds of processor time for each GB that was moved meanwhile, by who, and how many processors were busy. */
    String perGigabyte(long bytes) {
        StringJoiner line = new StringJoiner(", ", "processor seconds per GB: ", "");
        long sumNs = 0;
        for (Map.Entry<String, Long> who : spentNs.entrySet()) {
            line.add(String.format(Locale.ROOT, "%s %.1f", who.getKey(), (double) who.getValue() / bytes));
            sumNs += who.getValue();
        }
        return line
                + String.format(
                        Locale.ROOT,
                        "; %.1f of %d processors busy",
                        (double) sumNs / tookNs,
                        Runtime.getRuntime().availableProcessors());
    }

    private Map<String, Long> now() {
        Map<String, Long> spent = new TreeMap<>();
        for (ChildProcess process : cluster.processes()) {
            String role = process.name().replaceAll("-.*", "");
            spent.merge(role, cpuNs(ProcessHandle.of(process.pid()).orElseThrow()), Long::sum);
        }
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        ToLongFunction<Long> ns = id -> Math.max(0, threads.getThreadCpuTime(id));
        long storeNs = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals(PlainS3Server.THREAD_NAME))
                .mapToLong(thread -> ns.applyAsLong(thread.getId()))
                .sum();
        spent.put(STORE, storeNs);
        spent.put(CLIENTS, cpuNs(ProcessHandle.current()) - storeNs);
        return spent;
    }

    private static long cpuNs(ProcessHandle process) {
        return process.info().totalCpuDuration().map(Duration::toNanos).orElse(0L);
    }
}
