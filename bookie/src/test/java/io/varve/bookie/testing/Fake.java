package io.varve.bookie.testing;

import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/** A stand-in for a port, of which a test answers only the methods it expects: any other call fails the test. */
public final class Fake<T> {

    private final Class<T> port;
    private final Map<String, Function<Object[], Object>> answers = new TreeMap<>();

    private Fake(Class<T> port) {
        this.port = port;
    }

    /** A stand-in without answers. */
    public static <T> Fake<T> of(Class<T> port) {
        return new Fake<>(port);
    }

    /** Answers the method of that name, in all its forms. */
    public Fake<T> on(String method, Function<Object[], Object> answer) {
        answers.put(method, answer);
        return this;
    }

    /** The stand-in; answers given later count too. */
    public T make() {
        return port.cast(Proxy.newProxyInstance(port.getClassLoader(), new Class<?>[] {port}, (self, method, args) -> {
            Function<Object[], Object> answer = answers.get(method.getName());
            if (answer != null) {
                return answer.apply(args);
            }
            throw new UnsupportedOperationException(port.getSimpleName() + "." + method.getName());
        }));
    }
}
