package io.varve.serving.core.share;

/**
 * Offsets that a member has acquired.
 *
 * @param firstOffset of them
 * @param lastOffset inclusive
 * @param deliveries how often they were handed out, this time included
 */
public record Acquired(long firstOffset, long lastOffset, int deliveries) {}
