package io.varve.itest.sim;

import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataException;
import io.varve.metadata.api.NodeSession;
import io.varve.sim.SimRandomness;
import io.varve.sim.SimScheduler;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * The way between a broker or bookie and the metadata service: takes time, loses commands before they arrive and answers after they were carried out, so
 * that their outcome is unknown (I-17), delivers commands after their sender gave them up, or twice, and can be cut.
 */
final class SimMetadataLink {

    private static final long DEADLINE_NS = 2_000_000_000L;
    private static final long LATE_NS_MAX = 3_500_000_000L;
    /** Commands that arrive late and twice. Registrations don't: what a dead process's would do, its own silence undoes. */
    private static final Set<String> STRAYING = new TreeSet<>(List.of(
            "allocateSegment", "roll", "release", "confirmReplica", "completeTask", "failTask", "commitOffload"));

    private final SimScheduler scheduler;
    private final SimRandomness randomness;
    private final MetadataClient service;
    private final Executor loop;
    private double lostPercent;
    private double strayPercent;
    private long delayNsMax = 3_000_000;
    private boolean cut;

    SimMetadataLink(SimScheduler scheduler, MetadataClient service, Executor loop) {
        this.scheduler = scheduler;
        this.randomness = scheduler.randomness().split();
        this.service = service;
        this.loop = loop;
    }

    MetadataClient client() {
        return across(MetadataClient.class, service);
    }

    /** A node's session, with this way in between. */
    NodeSession across(NodeSession session) {
        return across(NodeSession.class, session);
    }

    private <T> T across(Class<T> type, T there) {
        InvocationHandler way = (proxy, method, arguments) -> invoke(there, method, arguments);
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, way));
    }

    /**
     * @param lost how often a command, or an answer, is lost
     * @param stray how often a command arrives late, and how often twice
     */
    void setFaults(double lost, double stray, long delayMax) {
        lostPercent = lost;
        strayPercent = stray;
        delayNsMax = delayMax;
    }

    void setCut(boolean isCut) {
        cut = isCut;
    }

    private Object invoke(Object there, Method method, Object[] arguments) {
        if (method.getReturnType() != CompletableFuture.class) {
            return call(there, method, arguments);
        }
        CompletableFuture<Object> answer = new CompletableFuture<>();
        scheduler.schedule(
                DEADLINE_NS,
                () -> loop.execute(() -> answer.completeExceptionally(
                        new MetadataException(MetadataException.Reason.UNKNOWN_OUTCOME, "No answer in time"))));
        if (cut || randomness.percent(lostPercent)) {
            return answer;
        }
        boolean strays = STRAYING.contains(method.getName());
        if (strays && randomness.percent(strayPercent)) {
            scheduler.schedule(
                    randomness.between(50_000, LATE_NS_MAX),
                    () -> arrive(there, method, arguments, new CompletableFuture<>()));
        }
        boolean late = strays && randomness.percent(strayPercent);
        scheduler.schedule(
                late ? randomness.between(DEADLINE_NS, LATE_NS_MAX) : randomness.between(50_000, delayNsMax),
                () -> arrive(there, method, arguments, answer));
        return answer;
    }

    private void arrive(Object there, Method method, Object[] arguments, CompletableFuture<Object> answer) {
        ((CompletableFuture<?>) call(there, method, arguments)).whenComplete((value, failure) -> {
            if (cut || randomness.percent(lostPercent)) {
                return;
            }
            scheduler.schedule(
                    randomness.between(50_000, delayNsMax),
                    () -> loop.execute(() -> {
                        if (failure == null) {
                            answer.complete(value);
                        } else {
                            answer.completeExceptionally(failure);
                        }
                    }));
        });
    }

    private Object call(Object there, Method method, Object[] arguments) {
        try {
            return method.invoke(there, arguments);
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(e.getCause());
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }
}
