package io.varve.bookie.client;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.Timers;
import io.varve.metadata.model.SegmentDescriptor;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The in-memory twin of bookies and of the network before them, with everything that can go wrong with them at the turn of a knob.
 *
 * <p>All of it happens on the owner of {@code timers}: a {@link io.varve.sim.SimProcess} in a simulation, a {@link io.varve.sim.ThreadTimers} in a
 * test with real threads, where clients and knobs may then be used from any thread; the sight methods wait for it in that case only if they are
 * called through {@link #ask}.
 */
public final class InMemoryBookies {

    private static final long LATENCY_NANOS_DEFAULT = 100_000;

    private final Timers timers;
    private final Map<Integer, Host> hosts = new TreeMap<>();
    private final TreeSet<String> cuts = new TreeSet<>();
    private long incarnations = 1_000;

    public InMemoryBookies(Timers timers) {
        this.timers = timers;
    }

    /** Adds a bookie; before anything else is done with it. */
    public synchronized BookieAddress add(int id) {
        hosts.put(id, new Host(new InMemoryBookie(id, ++incarnations)));
        return new BookieAddress(new BookieId(id), "memory", id + 1);
    }

    /** A client of its own connections; {@code name} is what {@link #cut} knows it by. */
    public BookieClient client(String name) {
        return new MemoryClient(name);
    }

    // ---- knobs ----

    /** It takes requests and does nothing, until {@link #resume}. */
    public void hang(int id) {
        turn(id, host -> host.hung = true);
    }

    /** It does, late, what it was asked while it hung. */
    public void resume(int id) {
        turn(id, host -> {
            host.hung = false;
            host.drain();
        });
    }

    /** Each way to it takes that long from now on. */
    public void slow(int id, long latencyNanos) {
        turn(id, host -> host.latencyNanos = latencyNanos);
    }

    /** What it is told to do is durable, and answered, that much later; several things at once are then durable together. At once by default. */
    public void syncAfter(int id, long nanos) {
        turn(id, host -> host.syncNanos = nanos);
    }

    /** It says of appends that they are durable before they are: what I-1 forbids, for tests of tests. */
    public void answerEarly(int id) {
        turn(id, host -> host.answersEarly = true);
    }

    /** The process dies: connections break, what it had answered durable stays, and so does all the rest. */
    public void kill(int id) {
        killTorn(id, 1);
    }

    /**
     * The machine dies: connections break, what it had answered durable stays.
     *
     * @param share how much of what was under way is there afterwards, in its order, from 0 to 1
     */
    public void killTorn(int id, double share) {
        turn(id, host -> host.kill(share));
    }

    /** It is started again. */
    public void restart(int id) {
        turn(id, host -> host.alive = true);
    }

    /** Its disk is replaced by an empty one: it comes back with another incarnation, and can't vouch for what was never there (I-5). */
    public void loseDisk(int id) {
        turn(id, host -> host.bookie.loseDisk(++incarnations));
    }

    /** It takes nothing new, or does again. */
    public void setReadOnly(int id, boolean readOnly) {
        turn(id, host -> host.bookie.readOnly = readOnly);
    }

    /** It forgets its fences, as one that kept them in memory alone would at a restart: what I-4 forbids, for tests of tests. */
    public void forgetFences(int id) {
        turn(id, host -> host.bookie.forgetFences());
    }

    /** The entry that holds {@code offset} is damaged. */
    public void corrupt(int id, SegmentId segment, long offset) {
        turn(id, host -> host.bookie.corrupt(segment, offset));
    }

    /** A replica is deleted, as the metadata service would order it. */
    public void delete(int id, SegmentId segment) {
        delete(id, segment, () -> {});
    }

    /** The same; {@code durable} runs once that can't be undone any more. */
    public void delete(int id, SegmentId segment, Runnable durable) {
        turn(id, host -> {
            if (host.alive) {
                host.bookie.delete(segment);
                host.whenDurable(durable);
            }
        });
    }

    /** Puts a copy of a sealed segment there, as repair does; {@code durable} runs once it is. */
    public void importCopy(int id, SegmentDescriptor segment, List<byte[]> entries, Runnable durable) {
        turn(id, host -> {
            if (host.alive) {
                host.bookie.importCopy(
                        segment.partition(),
                        segment.id(),
                        segment.epoch(),
                        segment.startOffset(),
                        segment.endOffset(),
                        entries);
                host.whenDurable(durable);
            }
        });
    }

    /** Nothing passes between a client and a bookie any more: neither learns of it but by silence. */
    public void cut(String client, int id) {
        turn(id, host -> cuts.add(client + ">" + id));
    }

    /** Mends a cut. What was sent meanwhile is lost, and streams that lost something fail. */
    public void mend(String client, int id) {
        turn(id, host -> cuts.remove(client + ">" + id));
    }

    // ---- sight: on the owner of the timers ----

    /** The incarnation of its disk. */
    public synchronized long incarnation(int id) {
        return hosts.get(id).bookie.incarnation;
    }

    /** The segments of which it holds a replica. */
    public List<SegmentId> segments(int id) {
        return hosts.get(id).bookie.segments();
    }

    /** The partition whose segment a replica is of. */
    public PartitionId partition(int id, SegmentId segment) {
        return hosts.get(id).bookie.partition(segment);
    }

    /** The epoch under which a replica was made. */
    public int epoch(int id, SegmentId segment) {
        return hosts.get(id).bookie.epoch(segment);
    }

    /** A replica's durable end, or -1. */
    public long end(int id, SegmentId segment) {
        return hosts.get(id).bookie.durableEnd(segment);
    }

    /** A replica's entries as {@link io.varve.protocol.storage.EntryFormat} lays them out. */
    public List<byte[]> entries(int id, SegmentId segment) {
        return hosts.get(id).bookie.entries(segment);
    }

    /** The owner's newest checkpoint in a replica: its offset and its bytes, or null. */
    public Map.Entry<Long, byte[]> lastCheckpoint(int id, SegmentId segment) {
        return hosts.get(id).bookie.lastCheckpoint(segment);
    }

    /** The durable entry that begins at an offset, or null. */
    public byte[] entry(int id, SegmentId segment, long firstOffset) {
        return hosts.get(id).bookie.entry(segment, firstOffset);
    }

    /** The durable fence, or -1. */
    public int fence(int id, PartitionId partition) {
        return hosts.get(id).bookie.durableFence(partition);
    }

    /** Looks on the owner of the timers, from another thread. */
    public <T> CompletableFuture<T> ask(Supplier<T> look) {
        CompletableFuture<T> seen = new CompletableFuture<>();
        timers.schedule(0, () -> seen.complete(look.get()));
        return seen;
    }

    private void turn(int id, Consumer<Host> knob) {
        timers.schedule(0, () -> knob.accept(hosts.get(id)));
    }

    /** A bookie's process. */
    private final class Host {
        final InMemoryBookie bookie;
        final ArrayDeque<Runnable> held = new ArrayDeque<>();
        final ArrayDeque<Runnable> untilDurable = new ArrayDeque<>();
        final List<Runnable> onKill = new ArrayList<>();
        volatile int life;
        boolean alive = true;
        boolean hung;
        long latencyNanos = LATENCY_NANOS_DEFAULT;
        long syncNanos;
        boolean answersEarly;

        Host(InMemoryBookie bookie) {
            this.bookie = bookie;
        }

        void arrive(Runnable request) {
            held.add(request);
            drain();
        }

        void drain() {
            while (!hung && !held.isEmpty()) {
                held.poll().run();
            }
        }

        /** Runs {@code then} once all that was done before is durable. What is under way joins the sync that is due next. */
        void whenDurable(Runnable then) {
            if (syncNanos == 0) {
                sync();
                then.run();
                return;
            }
            untilDurable.add(then);
            if (untilDurable.size() == 1) {
                int in = life;
                timers.schedule(syncNanos, () -> {
                    if (life == in) {
                        sync();
                    }
                });
            }
        }

        private void sync() {
            bookie.sync();
            List<Runnable> durable = new ArrayList<>(untilDurable);
            untilDurable.clear();
            durable.forEach(Runnable::run);
        }

        void kill(double share) {
            alive = false;
            life++;
            hung = false;
            held.clear();
            untilDurable.clear();
            bookie.tear(share);
            List<Runnable> told = new ArrayList<>(onKill);
            onKill.clear();
            told.forEach(Runnable::run);
        }
    }

    private final class MemoryClient implements BookieClient {
        private final String name;
        private final Map<Integer, Link> links = new TreeMap<>();
        private final List<MemoryStream> streams = new ArrayList<>();
        private volatile boolean closed;

        MemoryClient(String name) {
            this.name = name;
        }

        private synchronized Link link(BookieAddress to) {
            return links.computeIfAbsent(to.id().value(), id -> new Link(name, hosts.get(id)));
        }

        @Override
        public AppendStream openAppend(
                BookieAddress bookie,
                PartitionId partition,
                SegmentId segment,
                int epoch,
                long startOffset,
                long incarnation,
                AppendListener listener) {
            MemoryStream stream = new MemoryStream(link(bookie), segment, epoch, listener);
            synchronized (this) {
                streams.add(stream);
            }
            stream.send(() -> stream.answer(
                    stream.link.host.bookie.open(partition, segment, epoch, startOffset, incarnation), 0, false));
            return stream;
        }

        @Override
        public CompletableFuture<List<FenceReply>> fence(
                BookieAddress bookie, List<FenceRequest> requests, long timeoutMs) {
            return call(
                    bookie,
                    timeoutMs,
                    host -> requests.stream().map(host.bookie::fence).toList(),
                    true,
                    () -> requests.stream()
                            .map(r -> new FenceReply(BookieStatus.NO_ANSWER, -1, -1, 0, false, -1))
                            .toList());
        }

        @Override
        public CompletableFuture<ReadReply> read(
                BookieAddress bookie,
                SegmentId segment,
                long fromOffset,
                int maxBytes,
                ReadPriority priority,
                long timeoutMs) {
            return call(
                    bookie,
                    timeoutMs,
                    host -> host.bookie.read(segment, fromOffset, maxBytes),
                    false,
                    () -> new ReadReply(BookieStatus.NO_ANSWER, Unpooled.EMPTY_BUFFER, -1, -1));
        }

        @Override
        public CompletableFuture<CheckpointReply> readCheckpoint(
                BookieAddress bookie, SegmentId segment, long atMostOffset, long timeoutMs) {
            return call(
                    bookie,
                    timeoutMs,
                    host -> host.bookie.readCheckpoint(segment, atMostOffset),
                    false,
                    () -> new CheckpointReply(BookieStatus.NO_ANSWER, -1, Unpooled.EMPTY_BUFFER));
        }

        @Override
        public CompletableFuture<FenceReply> describe(BookieAddress bookie, SegmentId segment, long timeoutMs) {
            return call(
                    bookie,
                    timeoutMs,
                    host -> host.bookie.describe(segment, 0, -1),
                    true,
                    () -> new FenceReply(BookieStatus.NO_ANSWER, -1, -1, 0, false, -1));
        }

        @Override
        public void close() {
            closed = true;
            List<MemoryStream> open;
            synchronized (this) {
                open = new ArrayList<>(streams);
                streams.clear();
            }
            timers.schedule(0, () -> open.forEach(stream -> stream.fail(BookieStatus.NO_ANSWER, -1)));
        }

        /** @param durably whether the answer says what is durable, and so has to wait for it */
        private <T> CompletableFuture<T> call(
                BookieAddress bookie,
                long timeoutMs,
                java.util.function.Function<Host, T> work,
                boolean durably,
                Supplier<T> noAnswer) {
            if (closed) {
                return CompletableFuture.completedFuture(noAnswer.get());
            }
            CompletableFuture<T> reply = new CompletableFuture<>();
            Link link = link(bookie);
            timers.schedule(timeoutMs * 1_000_000, () -> reply.complete(noAnswer.get()));
            link.carry(
                    () -> {
                        T answer = work.apply(link.host);
                        Runnable back = () -> link.back(() -> release(reply.complete(answer), answer));
                        if (durably) {
                            link.host.whenDurable(back);
                        } else {
                            back.run();
                        }
                    },
                    () -> reply.complete(noAnswer.get()));
            return reply;
        }

        private static void release(boolean taken, Object answer) {
            if (!taken && answer instanceof ReadReply read) {
                read.entries().release();
            } else if (!taken && answer instanceof CheckpointReply checkpoint) {
                checkpoint.state().release();
            }
        }
    }

    /** One client's connection to one bookie: keeps the order each way, whatever order the timers draw. */
    private final class Link {
        private final String client;
        private final Host host;
        private final ArrayDeque<Runnable> there = new ArrayDeque<>();
        private final ArrayDeque<Runnable> back = new ArrayDeque<>();

        Link(String client, Host host) {
            this.client = client;
            this.host = host;
        }

        boolean isCut() {
            return cuts.contains(client + ">" + host.bookie.id);
        }

        void carry(Runnable atBookie, Runnable onDead) {
            int sentTo = host.life;
            Runnable arrival = () -> {
                if (!host.alive || host.life != sentTo) {
                    onDead.run();
                } else if (!isCut()) {
                    host.onKill.add(onDead);
                    host.arrive(() -> {
                        host.onKill.remove(onDead);
                        atBookie.run();
                    });
                }
            };
            pass(there, arrival);
        }

        void back(Runnable atClient) {
            pass(back, () -> {
                if (!isCut()) {
                    atClient.run();
                }
            });
        }

        private void pass(ArrayDeque<Runnable> way, Runnable message) {
            synchronized (way) {
                way.add(message);
                timers.schedule(host.latencyNanos, () -> {
                    Runnable next;
                    synchronized (way) {
                        next = way.poll();
                    }
                    next.run();
                });
            }
        }
    }

    private final class MemoryStream implements AppendStream {
        private final Link link;
        private final SegmentId segment;
        private final int epoch;
        private final AppendListener listener;
        private final AtomicLong pendingBytes = new AtomicLong();
        private final Runnable onKill = () -> fail(BookieStatus.NO_ANSWER, -1);
        private volatile boolean over;
        private boolean atBookieOver;
        private boolean watched;
        private long durableEnd = -1;

        MemoryStream(Link link, SegmentId segment, int epoch, AppendListener listener) {
            this.link = link;
            this.segment = segment;
            this.epoch = epoch;
            this.listener = listener;
        }

        @Override
        public void append(long firstOffset, long lastOffset, int crc, ByteBuf payload, long highWatermark) {
            byte[] bytes = take(payload);
            if (over) {
                return;
            }
            int size = bytes.length;
            pendingBytes.addAndGet(size);
            timers.schedule(BookieClientOptions.APPEND_SILENCE_MS_DEFAULT * 1_000_000, () -> {
                if (durableEnd <= lastOffset) {
                    fail(BookieStatus.NO_ANSWER, -1);
                }
            });
            send(() -> answer(
                    link.host.bookie.append(segment, epoch, firstOffset, lastOffset, crc, bytes, highWatermark),
                    size,
                    true));
        }

        @Override
        public void checkpoint(long offset, ByteBuf state) {
            byte[] bytes = take(state);
            send(() -> {
                link.host.bookie.checkpoint(segment, epoch, offset, bytes);
                link.host.whenDurable(() -> {});
            });
        }

        @Override
        public void seal(long endOffset) {
            send(() -> {
                link.host.bookie.seal(segment, epoch, endOffset);
                link.host.whenDurable(() -> {});
            });
        }

        @Override
        public long pendingBytes() {
            return pendingBytes.get();
        }

        @Override
        public void close() {
            over = true;
        }

        private static byte[] take(ByteBuf bytes) {
            byte[] taken = new byte[bytes.readableBytes()];
            bytes.getBytes(bytes.readerIndex(), taken);
            bytes.release();
            return taken;
        }

        void send(Runnable atBookie) {
            if (over) {
                return;
            }
            link.carry(
                    () -> {
                        if (!watched) {
                            watched = true;
                            link.host.onKill.add(onKill);
                        }
                        if (!atBookieOver) {
                            atBookie.run();
                        }
                    },
                    onKill);
        }

        void answer(InMemoryBookie.Answer answer, int bytes, boolean acknowledged) {
            if (answer.status() != BookieStatus.OK) {
                atBookieOver = true;
                link.host.onKill.remove(onKill);
                link.back(() -> fail(answer.status(), answer.end()));
            } else if (acknowledged) {
                Runnable back = () -> link.back(() -> durable(answer.end(), bytes));
                if (link.host.answersEarly) {
                    back.run();
                    back = () -> {};
                }
                link.host.whenDurable(back);
            } else {
                link.host.whenDurable(() -> {});
            }
        }

        private void durable(long end, int bytes) {
            pendingBytes.addAndGet(-bytes);
            if (!over && end > durableEnd) {
                durableEnd = end;
                listener.onDurable(end);
            }
        }

        void fail(BookieStatus status, long end) {
            if (!over) {
                over = true;
                listener.onFailed(status, end);
            }
        }
    }
}
