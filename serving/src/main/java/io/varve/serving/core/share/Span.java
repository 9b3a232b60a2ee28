package io.varve.serving.core.share;

/**
 * A range of offsets.
 *
 * @param firstOffset of them
 * @param lastOffset inclusive
 */
public record Span(long firstOffset, long lastOffset) {}
