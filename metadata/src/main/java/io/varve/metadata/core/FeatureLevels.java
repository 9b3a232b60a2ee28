package io.varve.metadata.core;

import io.varve.base.Invariant;
import io.varve.base.InvariantViolation;

/**
 * By which rules commands are decided (ADR 0010, ADR 0097). All nodes decide each command of the log alike, also nodes of two builds, and a node that replays what others decided long ago; so a rule is changed at a
 * level, which stands in the state: below it everybody goes by the old rule.
 *
 * <p>A node that meets what only later builds know stops. It can't know what the others make of it, and would come to another state without anybody noticing.
 */
public final class FeatureLevels {

    /** The latest that this build knows. What each of them decides is on record: {@code DecidedCommandsTest}. */
    public static final int LATEST = 1;

    private FeatureLevels() {}

    /** @throws InvariantViolation if this build doesn't know the level */
    static void requireKnown(int level) {
        Invariant.check(
                level <= LATEST,
                "the metadata is decided by a feature level that this build doesn't know: run a later one here",
                level,
                LATEST);
    }

    /** @throws InvariantViolation always: the log holds what this build doesn't know */
    static void unknown(String what) {
        throw new InvariantViolation("the log holds " + what
                + " that this build doesn't know: run a later one here; it knows levels up to " + LATEST);
    }
}
