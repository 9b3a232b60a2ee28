package io.varve.bookie.store;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBufAllocator;
import io.varve.base.BookieId;
import io.varve.base.Clock;
import io.varve.base.PartitionId;
import io.varve.base.Randomness;
import io.varve.bookie.client.BookieClient.ReadReply;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.core.Fence;
import io.varve.bookie.core.JournalRecovery;
import io.varve.bookie.disk.Disk;
import io.varve.bookie.disk.DiskFile;
import io.varve.bookie.disk.ReadOnlyDisk;
import io.varve.bookie.journal.JournalFiles;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** What a data directory holds, found as a bookie would find it at its start, without changing a byte. Used by one thread. */
public final class DirectoryInspection implements Closeable {

    private static final int READ_BYTES = 1024 * 1024;

    private final Cookie cookie;
    private final DirectoryStore store;
    private final SharedState shared;
    private final SegmentReader reader = new SegmentReader(ByteBufAllocator.DEFAULT);

    private DirectoryInspection(Cookie cookie, DirectoryStore store, SharedState shared) {
        this.cookie = cookie;
        this.store = store;
        this.shared = shared;
    }

    /**
     * Reads a directory.
     *
     * @throws IOException if it can't be read
     * @throws io.varve.base.StartupException if it isn't a bookie's directory, in one line
     */
    public static DirectoryInspection open(Path directory) throws IOException {
        Disk disk = new ReadOnlyDisk(directory);
        Cookie cookie = Cookie.readAny(disk);
        SharedState shared = new SharedState(options(cookie, directory, journalFileBytes(disk)), environment());
        DirectoryStore store = new DirectoryStore(shared, disk, cookie);
        store.load();
        store.startReadOnly();
        store.attach(op -> {});
        return new DirectoryInspection(cookie, store, shared);
    }

    private static long journalFileBytes(Disk disk) throws IOException {
        for (String name : disk.list(JournalFiles.DIRECTORY)) {
            if (JournalFiles.numberOf(name) > 0) {
                try (DiskFile file = disk.open(JournalFiles.DIRECTORY + "/" + name)) {
                    return file.size();
                }
            }
        }
        return StoreOptions.defaults("none", new BookieId(0), List.of()).journalFileBytes();
    }

    private static StoreOptions options(Cookie cookie, Path directory, long journalFileBytes) {
        return StoreOptions.defaults(cookie.clusterId(), cookie.bookie(), List.of(directory))
                .withJournalFileBytes(journalFileBytes);
    }

    private static StoreEnvironment environment() {
        Clock still = new Clock() {
            @Override
            public long nanoTime() {
                return 0;
            }

            @Override
            public long wallTimeMs() {
                return 0;
            }
        };
        Randomness none = new Randomness() {
            @Override
            public long nextLong() {
                throw new UnsupportedOperationException("nothing is made anew");
            }

            @Override
            public int nextInt(int bound) {
                throw new UnsupportedOperationException("nothing is made anew");
            }
        };
        return new StoreEnvironment(
                still,
                none,
                (where, fault) -> {
                    throw new IllegalStateException(where, fault);
                },
                StoreListener.NONE,
                new SimpleMeterRegistry(),
                JournalRecovery::decide,
                directory -> () -> {});
    }

    /** The cluster that it belongs to. */
    public String clusterId() {
        return cookie.clusterId();
    }

    /** The bookie that it belongs to. */
    public BookieId bookie() {
        return cookie.bookie();
    }

    /** Its own random number. */
    public long incarnation() {
        return cookie.incarnation();
    }

    /** The incarnations of all directories that the bookie ever had. */
    public List<Long> siblings() {
        return cookie.siblings();
    }

    /** Whether the journal lost records that had been durable. */
    public boolean isJournalDamaged() {
        return store.isDamaged();
    }

    /** The numbers of the journal files that hold something, oldest first. */
    public List<Long> journalFiles() {
        return store.files().numbers();
    }

    /** All fences that stand. */
    public SortedMap<PartitionId, Integer> fences() {
        SortedMap<PartitionId, Integer> fences = new TreeMap<>();
        for (Fence fence : shared.fences()) {
            if (fence.epoch() > 0) {
                fences.put(fence.partition(), fence.epoch());
            }
        }
        return fences;
    }

    /** All replicas, in order of segment. */
    public List<ReplicaInfo> replicas() {
        return store.replicas().values().stream().map(Replica::info).toList();
    }

    /** How much of a replica is in a file of its own, in bytes. */
    public long settledBytes(ReplicaInfo replica) {
        return store.replicas().get(replica.segment()).settled.bytes();
    }

    /**
     * Reads every entry of a replica and verifies it.
     *
     * @return one line for each thing that is wrong; empty if all is well
     */
    public List<String> verify(ReplicaInfo info) {
        List<String> wrong = new ArrayList<>();
        if (info.health() != ReplicaInfo.Health.INTACT) {
            wrong.add("segment " + info.segment() + ": " + info.health());
        }
        Replica replica = store.replicas().get(info.segment());
        long next = info.startOffset();
        while (next < info.end()) {
            ReadReply reply = reader.read(replica, next, READ_BYTES);
            if (reply.status() != BookieStatus.OK) {
                wrong.add("segment " + info.segment() + ": at offset " + next + ": " + reply.status());
                return wrong;
            }
            next = SegmentReader.endOf(reply.entries().nioBuffer());
            reply.entries().release();
        }
        return wrong;
    }

    @Override
    public void close() throws IOException {
        store.close();
    }
}
