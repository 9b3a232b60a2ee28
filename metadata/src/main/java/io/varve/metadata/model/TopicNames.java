package io.varve.metadata.model;

import java.util.Optional;

/** Kafka's rules for the names of topics. */
public final class TopicNames {

    /** The longest name: with {@code -} and a partition's number it still makes a file name. */
    public static final int LENGTH_MAX = 249;

    private TopicNames() {}

    /** What is wrong with {@code name}, in a line; empty if nothing is. */
    public static Optional<String> problemOf(String name) {
        if (name.isEmpty()) {
            return Optional.of("a topic's name is not empty");
        }
        if (name.equals(".")) {
            return Optional.of("a topic is not named '.'");
        }
        if (name.equals("..")) {
            return Optional.of("a topic is not named '..'");
        }
        if (name.length() > LENGTH_MAX) {
            return Optional.of("'" + name + "' has " + name.length() + " characters, more than " + LENGTH_MAX);
        }
        for (int i = 0; i < name.length(); i++) {
            if (!isLegal(name.charAt(i))) {
                return Optional.of(
                        "'" + name + "' has characters other than ASCII letters and digits, '.', '_' and '-'");
            }
        }
        return Optional.empty();
    }

    /**
     * The name with the two characters that metric names fold into one made equal: two topics whose names differ only in them are refused, as
     * Kafka refuses them.
     */
    public static String collisionKey(String name) {
        return name.replace('.', '_');
    }

    private static boolean isLegal(char c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-';
    }
}
