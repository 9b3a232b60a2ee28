package io.varve.metadata.net;

import io.varve.metadata.core.PlannerSettings;

/**
 * How a node serves.
 *
 * @param sessionTimeoutMs after that long without a word a session is dead
 * @param dropGraceMs after that long without a connection, too
 * @param planIntervalMs how long after one look the planners look again
 * @param watchBytesMax how many bytes of changes are kept in memory for watches to follow
 * @param planner what the planners go by
 */
public record ServiceSettings(
        long sessionTimeoutMs, long dropGraceMs, long planIntervalMs, long watchBytesMax, PlannerSettings planner) {

    /** What is used unless an operator says otherwise. */
    public static final ServiceSettings DEFAULT =
            new ServiceSettings(3_000, 300, 250, 64L << 20, PlannerSettings.DEFAULT);
}
