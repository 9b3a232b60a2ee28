package io.varve.itest.sim;

import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataException;
import io.varve.sim.SimRandomness;
import io.varve.sim.SimScheduler;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * The way between a broker and the metadata service: takes time, loses commands before they arrive and answers after they were carried out, so
 * that their outcome is unknown (I-17), and can be cut.
 */
final class SimMetadataLink implements InvocationHandler {

    private static final long DEADLINE_NS = 2_000_000_000L;

    private final SimScheduler scheduler;
    private final SimRandomness randomness;
    private final MetadataClient service;
    private final Executor loop;
    private double lostPercent;
    private long delayNsMax = 3_000_000;
    private boolean cut;

    SimMetadataLink(SimScheduler scheduler, MetadataClient service, Executor loop) {
        this.scheduler = scheduler;
        this.randomness = scheduler.randomness().split();
        this.service = service;
        this.loop = loop;
    }

    MetadataClient client() {
        return (MetadataClient) Proxy.newProxyInstance(
                MetadataClient.class.getClassLoader(), new Class<?>[] {MetadataClient.class}, this);
    }

    void setFaults(double lost, long delayMax) {
        lostPercent = lost;
        delayNsMax = delayMax;
    }

    void setCut(boolean isCut) {
        cut = isCut;
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        if (method.getReturnType() != CompletableFuture.class) {
            return call(method, arguments);
        }
        CompletableFuture<Object> answer = new CompletableFuture<>();
        scheduler.schedule(
                DEADLINE_NS,
                () -> loop.execute(() -> answer.completeExceptionally(
                        new MetadataException(MetadataException.Reason.UNKNOWN_OUTCOME, "No answer in time"))));
        if (cut || randomness.percent(lostPercent)) {
            return answer;
        }
        scheduler.schedule(randomness.between(50_000, delayNsMax), () -> arrive(method, arguments, answer));
        return answer;
    }

    private void arrive(Method method, Object[] arguments, CompletableFuture<Object> answer) {
        ((CompletableFuture<?>) call(method, arguments)).whenComplete((value, failure) -> {
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

    private Object call(Method method, Object[] arguments) {
        try {
            return method.invoke(service, arguments);
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(e.getCause());
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }
}
