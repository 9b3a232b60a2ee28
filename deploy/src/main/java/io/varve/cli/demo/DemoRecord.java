package io.varve.cli.demo;

/**
 * One keyed line of the input.
 *
 * @param key decides the partition; empty keys are kept as they are
 * @param line without its line end
 */
record DemoRecord(String key, String line) {}
