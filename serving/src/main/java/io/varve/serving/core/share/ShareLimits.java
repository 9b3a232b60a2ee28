package io.varve.serving.core.share;

/**
 * A group's configuration, as far as deliveries go.
 *
 * @param lockMs how long a member may keep a record
 * @param deliveriesMax how often a record is handed out before it is given up
 * @param inFlightMax how many offsets may be neither final nor beyond what was handed out
 */
public record ShareLimits(int lockMs, int deliveriesMax, int inFlightMax) {}
