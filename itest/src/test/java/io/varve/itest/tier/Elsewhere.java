package io.varve.itest.tier;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** What this process stands for, consumers and the object store, runs on machines of its own elsewhere. */
final class Elsewhere {

    private static final long PATIENCE_SECONDS = 10;

    private Elsewhere() {}

    /**
     * From now on this process uses of the processors only what nobody else wants (SCHED_IDLE): one that isn't on this machine would use
     * nothing of them. Processes that it started before are not concerned.
     *
     * @return what became of it, for people: not every system can
     */
    static String giveWay() throws InterruptedException {
        try {
            Process chrt = new ProcessBuilder(
                            "chrt",
                            "--all-tasks",
                            "--idle",
                            "--pid",
                            "0",
                            Long.toString(ProcessHandle.current().pid()))
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            if (chrt.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) && chrt.exitValue() == 0) {
                return "the reader and the store give way";
            }
            chrt.destroyForcibly();
        } catch (IOException e) {
            // As on a system that has no chrt.
        }
        return "the reader and the store share the processors";
    }
}
