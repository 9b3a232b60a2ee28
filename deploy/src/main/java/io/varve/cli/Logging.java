package io.varve.cli;

import java.util.Set;

/** Where this process logs to. Chosen before the first logger is made, because log4j2.xml reads it then. */
final class Logging {

    private static final Set<String> ROLES = Set.of("metadata", "bookie", "broker", "standalone");

    private Logging() {}

    /** Roles log to the standard output; what a person runs and looks at only says what is wrong, unless told otherwise. */
    static void choose(String[] arguments) {
        if (System.getProperty("varve.log.to") == null && arguments.length > 0 && !runsRole(arguments)) {
            System.setProperty("varve.log.to", "errors");
        }
    }

    /** Whether it is a role by itself, and not one of the commands under it. */
    static boolean runsRole(String[] arguments) {
        return ROLES.contains(arguments[0]) && (arguments.length == 1 || arguments[1].startsWith("-"));
    }
}
