package io.varve.metadata.model;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * One configuration key of a topic: Kafka's name of it, and what a value of it may be.
 *
 * @param name the key
 * @param type how its value is read
 * @param defaultValue what holds when nothing is set, as text
 * @param brokerKey the cluster-wide key whose dynamic value holds for topics that set nothing, empty if there is none
 * @param range what a number may be
 * @param allowed what a string, or each element of a list, may be; empty for anything
 * @param doc one sentence
 */
public record ConfigDefinition(
        String name,
        Type type,
        String defaultValue,
        Optional<String> brokerKey,
        Range range,
        List<String> allowed,
        String doc) {

    /** How a value is read. */
    public enum Type {
        BOOLEAN,
        INT,
        LONG,
        DOUBLE,
        STRING,
        /** Separated by commas. */
        LIST
    }

    /** Bounds of a number, both inclusive. */
    public record Range(double least, double most) {
        /** Whatever the type holds. */
        public static final Range ANY = new Range(Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY);

        /** From {@code least} on. */
        public static Range atLeast(double least) {
            return new Range(least, Double.POSITIVE_INFINITY);
        }
    }

    public ConfigDefinition {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(defaultValue, "defaultValue");
        Objects.requireNonNull(range, "range");
        allowed = List.copyOf(allowed);
    }

    /** What is wrong with {@code value}, in a line that names the key and the value; empty if nothing is. */
    public Optional<String> problemOf(String value) {
        return switch (type) {
            case BOOLEAN -> isBoolean(value) ? Optional.empty() : wrong(value, "it is neither true nor false");
            case INT, LONG, DOUBLE -> problemOfNumber(value.trim());
            case STRING -> problemOfElements(value, List.of(value));
            case LIST -> problemOfElements(value, elements(value));
        };
    }

    /** The elements of a list's value, without blanks around them. */
    public static List<String> elements(String value) {
        return value.isBlank() ? List.of() : List.of(value.trim().split("\\s*,\\s*"));
    }

    private static boolean isBoolean(String value) {
        return value.trim().equalsIgnoreCase("true") || value.trim().equalsIgnoreCase("false");
    }

    private Optional<String> problemOfNumber(String value) {
        double number;
        try {
            number = switch (type) {
                case INT -> Integer.parseInt(value);
                case LONG -> Long.parseLong(value);
                default -> Double.parseDouble(value);
            };
        } catch (NumberFormatException notOne) {
            return wrong(value, "it is not a number of type " + type);
        }
        if (number < range.least || Double.isNaN(number)) {
            return wrong(value, "it must be at least " + plain(range.least));
        }
        return number > range.most ? wrong(value, "it must be no more than " + plain(range.most)) : Optional.empty();
    }

    private Optional<String> problemOfElements(String value, List<String> elements) {
        for (String element : elements) {
            if (!allowed.isEmpty() && !allowed.contains(element)) {
                return wrong(value, "it must be one of " + String.join(", ", allowed));
            }
        }
        return Optional.empty();
    }

    private Optional<String> wrong(String value, String why) {
        return Optional.of("Invalid value " + value + " for configuration " + name + ": " + why);
    }

    private static String plain(double bound) {
        return bound == Math.rint(bound) ? Long.toString((long) bound) : Double.toString(bound);
    }
}
