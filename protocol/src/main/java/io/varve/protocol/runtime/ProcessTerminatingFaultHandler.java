package io.varve.protocol.runtime;

import io.varve.base.FaultHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs the fault and ends the process at once, without shutdown hooks: an orderly stop would go on working with the state that was found
 * wrong. What was acknowledged is on disk; what was not is lost, as in a crash.
 */
public final class ProcessTerminatingFaultHandler implements FaultHandler {

    /** The exit code of a process that stopped itself because of a fault. */
    public static final int EXIT_CODE = 70;

    private static final Logger LOG = LoggerFactory.getLogger(ProcessTerminatingFaultHandler.class);

    @Override
    public void onFault(String where, Throwable fault) {
        try {
            LOG.error("event=fault where=\"{}\" action=halt", where, fault);
        } finally {
            Runtime.getRuntime().halt(EXIT_CODE);
        }
    }
}
