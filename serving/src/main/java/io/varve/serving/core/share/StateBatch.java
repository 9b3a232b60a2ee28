package io.varve.serving.core.share;

/**
 * Offsets that were delivered alike.
 *
 * @param firstOffset of them
 * @param lastOffset inclusive
 * @param deliveries how often they were handed out
 */
public record StateBatch(long firstOffset, long lastOffset, DeliveryState state, int deliveries) {}
