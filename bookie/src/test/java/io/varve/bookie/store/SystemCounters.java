package io.varve.bookie.store;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What the operating system has counted so far.
 *
 * @param processWriteBytes pages that this process made dirty: a page of a large folio counts as all of the folio, so this is an upper bound
 * @param deviceWriteBytes what went to the block devices, whoever wrote it; 0 where it can't be read
 * @param processorNs what the whole process has used of the processors
 */
record SystemCounters(long processWriteBytes, long deviceWriteBytes, long processorNs) {

    private static final int SECTOR_BYTES = 512;

    static SystemCounters now() throws IOException {
        return new SystemCounters(
                readProcessWriteBytes(),
                readDeviceWriteBytes(),
                ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                        .getProcessCpuTime());
    }

    /** Together with another stretch of time. */
    SystemCounters plus(SystemCounters other) {
        return new SystemCounters(
                processWriteBytes + other.processWriteBytes,
                deviceWriteBytes + other.deviceWriteBytes,
                processorNs + other.processorNs);
    }

    /** From an earlier moment to this one. */
    SystemCounters since(SystemCounters before) {
        return new SystemCounters(
                processWriteBytes - before.processWriteBytes,
                deviceWriteBytes - before.deviceWriteBytes,
                processorNs - before.processorNs);
    }

    private static long readProcessWriteBytes() throws IOException {
        return processIo("write_bytes: ");
    }

    /** What this process had the disks read so far. */
    static long processReadBytes() throws IOException {
        return processIo("read_bytes: ");
    }

    private static long processIo(String name) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/io"))) {
            if (line.startsWith(name)) {
                return Long.parseLong(line.substring(name.length()));
            }
        }
        return 0;
    }

    private static long readDeviceWriteBytes() throws IOException {
        long sectors = 0;
        for (String line : Files.readAllLines(Path.of("/proc/diskstats"))) {
            String[] fields = line.trim().split(" +");
            // Whole devices only: their partitions count the same bytes again.
            if (Files.exists(Path.of("/sys/block", fields[2])) && !fields[2].startsWith("zram")) {
                sectors += Long.parseLong(fields[9]);
            }
        }
        return sectors * SECTOR_BYTES;
    }

    /** Resident memory of the process in bytes. */
    static long residentBytes() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
            }
        }
        return 0;
    }

    /** Open file descriptors of the process. */
    static long openFiles() throws IOException {
        try (var files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }
}
