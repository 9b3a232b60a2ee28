package io.varve.tiering.client;

/**
 * What became of trying a store.
 *
 * @param isSound whether it can do everything that will be asked of it
 * @param line that it can, or what is wrong, for a person
 */
public record StoreVerdict(boolean isSound, String line) {}
