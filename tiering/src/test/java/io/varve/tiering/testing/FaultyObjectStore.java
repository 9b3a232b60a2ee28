package io.varve.tiering.testing;

import io.varve.base.InvariantViolation;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.object.RangeTarget;
import io.varve.tiering.object.StoreException;
import io.varve.tiering.object.WrappedObjectStore;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * A store on a bad day. Faults are queued by verb; each takes one call of its verb, in order, or all of them until it is mended. Counts
 * the calls. Safe for any thread.
 */
public final class FaultyObjectStore extends WrappedObjectStore {

    private final ObjectStore inner;
    private final Map<Verb, Deque<Fault>> once = new EnumMap<>(Verb.class);
    private final Map<Verb, Fault> always = new EnumMap<>(Verb.class);
    private final Map<Verb, Long> calls = new EnumMap<>(Verb.class);
    private final Map<String, Long> bytesRead = new TreeMap<>();
    private final List<Runnable> held = new ArrayList<>();

    public FaultyObjectStore(ObjectStore inner) {
        super(inner);
        this.inner = inner;
    }

    /** What a store can do to a call. */
    public sealed interface Fault {
        /** Nothing wrong: lets one call through. */
        record None() implements Fault {}

        /** Says so, and does nothing. */
        record Fail(StoreException.Kind kind) implements Fault {}

        /** Does it, and says that it failed, or that nothing is known. */
        record DoThenFail(StoreException.Kind kind) implements Fault {}

        /** Does nothing and never answers. */
        record Hang() implements Fault {}

        /** Does it and never answers. */
        record DoThenHang() implements Fault {}

        /** Says that it did it, and did nothing. Of a write without an answer of its own. */
        record Lie() implements Fault {}

        /** Breaks an invariant of the store's own. */
        record Break() implements Fault {}

        /** Does it when {@link FaultyObjectStore#release} is called. */
        record Hold() implements Fault {}

        /** Flips a bit of a byte of what is read or written. */
        record Flip(int at) implements Fault {}

        /** Drops the last bytes of what is written, without a word. */
        record Shorten(int bytes) implements Fault {}

        /** Of a bulk delete: leaves some keys where they are, and says so for each. */
        record Leave(List<String> keys) implements Fault {}

        /** Puts text before and after what is written, as stores do that keep a body's framing as content. */
        record Frame(String before, String after) implements Fault {}
    }

    /** The next call of the verb that no earlier fault takes. */
    public synchronized FaultyObjectStore once(Verb verb, Fault fault) {
        once.computeIfAbsent(verb, v -> new ArrayDeque<>()).add(fault);
        return this;
    }

    /** Every call of the verb from now on. */
    public synchronized FaultyObjectStore always(Verb verb, Fault fault) {
        always.put(verb, fault);
        return this;
    }

    /** Every call from now on. */
    public synchronized FaultyObjectStore down(StoreException.Kind kind) {
        for (Verb verb : Verb.values()) {
            always.put(verb, new Fault.Fail(kind));
        }
        return this;
    }

    /** From now on nothing goes wrong. */
    public synchronized void mend() {
        always.clear();
        once.clear();
    }

    /** Lets the held calls go. */
    public void release() {
        List<Runnable> going;
        synchronized (this) {
            going = new ArrayList<>(held);
            held.clear();
        }
        going.forEach(Runnable::run);
    }

    /** Calls of a verb so far. */
    public synchronized long calls(Verb verb) {
        return calls.getOrDefault(verb, 0L);
    }

    /** Bytes of an object that were read so far. */
    public synchronized long bytesRead(String key) {
        return bytesRead.getOrDefault(key, 0L);
    }

    private synchronized void onRead(String key, int length) {
        bytesRead.merge(key, (long) length, Long::sum);
    }

    /** Calls that are held. */
    public synchronized int held() {
        return held.size();
    }

    @Override
    public CompletableFuture<Void> put(String key, ByteBuffer body) {
        Fault fault = next(Verb.PUT);
        return carryOut(fault, Verb.PUT, () -> inner.put(key, changed(fault, body)));
    }

    @Override
    public CompletableFuture<Part> putPart(String key, String uploadId, int number, ByteBuffer body) {
        Fault fault = next(Verb.PUT_PART);
        return carryOut(fault, Verb.PUT_PART, () -> inner.putPart(key, uploadId, number, changed(fault, body)));
    }

    @Override
    public CompletableFuture<ByteBuffer> get(String key, long from, int length) {
        Fault fault = next(Verb.GET);
        return carryOut(
                fault,
                Verb.GET,
                () -> inner.get(key, from, length).thenApply(bytes -> {
                    onRead(key, length);
                    return changed(fault, bytes);
                }));
    }

    @Override
    public CompletableFuture<Void> fill(String key, long from, RangeTarget into) {
        RangeTarget.Attempt attempt = into.begin();
        return get(key, from, into.length()).thenAccept(bytes -> attempt.put(bytes.duplicate()));
    }

    @Override
    public CompletableFuture<Map<String, String>> deleteAll(List<String> keys) {
        Fault fault = next(Verb.BULK_DELETE);
        if (fault instanceof Fault.Leave leave) {
            Map<String, String> left = new TreeMap<>();
            leave.keys().forEach(key -> left.put(key, "InternalError"));
            return inner.deleteAll(
                            keys.stream().filter(key -> !left.containsKey(key)).toList())
                    .thenApply(done -> left);
        }
        return carryOut(fault, Verb.BULK_DELETE, () -> inner.deleteAll(keys));
    }

    @Override
    protected <T> CompletableFuture<T> around(Verb verb, String key, long bytes, Supplier<CompletableFuture<T>> call) {
        return carryOut(next(verb), verb, call);
    }

    private synchronized Fault next(Verb verb) {
        calls.merge(verb, 1L, Long::sum);
        Deque<Fault> queue = once.get(verb);
        return queue != null && !queue.isEmpty() ? queue.poll() : always.get(verb);
    }

    private <T> CompletableFuture<T> carryOut(Fault fault, Verb verb, Supplier<CompletableFuture<T>> call) {
        if (fault instanceof Fault.Fail fail) {
            return CompletableFuture.failedFuture(new StoreException(fail.kind(), verb + " was made to fail"));
        }
        if (fault instanceof Fault.Break) {
            return CompletableFuture.failedFuture(new InvariantViolation("broken on order"));
        }
        if (fault instanceof Fault.Hang) {
            return new CompletableFuture<>();
        }
        if (fault instanceof Fault.DoThenHang) {
            return call.get().thenCompose(done -> new CompletableFuture<>());
        }
        if (fault instanceof Fault.DoThenFail fail) {
            return call.get()
                    .thenCompose(done -> CompletableFuture.failedFuture(
                            new StoreException(fail.kind(), verb + " was done and made to fail")));
        }
        if (fault instanceof Fault.Lie) {
            return CompletableFuture.completedFuture(null);
        }
        if (fault instanceof Fault.Hold) {
            return hold(call);
        }
        return call.get();
    }

    private synchronized <T> CompletableFuture<T> hold(Supplier<CompletableFuture<T>> call) {
        CompletableFuture<T> later = new CompletableFuture<>();
        held.add(() -> call.get().whenComplete((answer, failure) -> {
            if (failure == null) {
                later.complete(answer);
            } else {
                later.completeExceptionally(failure);
            }
        }));
        return later;
    }

    private static ByteBuffer changed(Fault fault, ByteBuffer bytes) {
        if (fault instanceof Fault.Flip flip) {
            ByteBuffer copy = ByteBuffer.allocate(bytes.remaining())
                    .put(bytes.duplicate())
                    .flip();
            int at = Math.min(flip.at(), copy.limit() - 1);
            return copy.put(at, (byte) (copy.get(at) ^ 0x10));
        }
        if (fault instanceof Fault.Shorten shorten) {
            return bytes.slice(bytes.position(), Math.max(0, bytes.remaining() - shorten.bytes()));
        }
        if (fault instanceof Fault.Frame frame) {
            return ByteBuffer.allocate(bytes.remaining()
                            + frame.before().length()
                            + frame.after().length())
                    .put(frame.before().getBytes(java.nio.charset.StandardCharsets.US_ASCII))
                    .put(bytes.duplicate())
                    .put(frame.after().getBytes(java.nio.charset.StandardCharsets.US_ASCII))
                    .flip();
        }
        return bytes;
    }
}
