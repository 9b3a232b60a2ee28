package io.varve.planted.server;

import io.netty.channel.EventLoop;
import io.varve.planted.core.PlantedCore;
import java.util.concurrent.TimeUnit;

/** Breaks rules of shells and tests. Never run. */
public final class PlantedServer {

    private EventLoop strayLoop;

    EventLoop loop() {
        PlantedCore.touch();
        return strayLoop;
    }

    static void sleep() throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(1);
    }

    public static void main(String[] args) {
        PlantedCore.touch();
    }
}
