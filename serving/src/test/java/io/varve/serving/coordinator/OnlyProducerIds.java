package io.varve.serving.coordinator;

import io.varve.metadata.api.MetadataClient;
import io.varve.serving.kafka.group.GroupConfigRules;
import io.varve.serving.kafka.runtime.CoordinatorOptions;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.message.InitProducerIdResponseData;
import org.apache.kafka.common.protocol.Errors;

/** Coordinators for tests that need none: producer ids are given out, writes are verified, everything else is answered with an empty message. */
public final class OnlyProducerIds {

    private OnlyProducerIds() {}

    /** Over a metadata client, which gives out the ids. */
    public static Coordinators over(MetadataClient metadata) {
        GroupCoordinators groups = answeringEmpty(GroupCoordinators.class, Map.of());
        TransactionCoordinators transactions = answeringEmpty(
                TransactionCoordinators.class,
                Map.of(
                        "initProducerId",
                        arguments -> metadata.allocateProducerIds()
                                .thenApply(block -> new InitProducerIdResponseData()
                                        .setProducerId(block.first())
                                        .setProducerEpoch((short) 0)),
                        "verify",
                        arguments -> CompletableFuture.completedFuture(Map.of(
                                ((java.util.Collection<?>) arguments[3])
                                        .iterator()
                                        .next(),
                                Errors.NONE))));
        return answeringEmpty(
                Coordinators.class,
                Map.of(
                        "groups", arguments -> groups,
                        "shares", arguments -> answeringEmpty(ShareCoordinators.class, Map.of()),
                        "groupConfigs", arguments -> new GroupConfigRules(CoordinatorOptions.defaults(1)),
                        "transactions", arguments -> transactions));
    }

    private interface Call {
        Object on(Object[] arguments);
    }

    private static <T> T answeringEmpty(Class<T> port, Map<String, Call> calls) {
        return port.cast(Proxy.newProxyInstance(
                port.getClassLoader(), new Class<?>[] {port}, (proxy, method, arguments) -> {
                    Call call = calls.get(method.getName());
                    if (call != null) {
                        return call.on(arguments);
                    }
                    if (!method.getReturnType().equals(CompletableFuture.class)) {
                        return null;
                    }
                    var answer = (java.lang.reflect.ParameterizedType) method.getGenericReturnType();
                    return CompletableFuture.completedFuture(((Class<?>) answer.getActualTypeArguments()[0])
                            .getDeclaredConstructor()
                            .newInstance());
                }));
    }
}
