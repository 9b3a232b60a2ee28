package io.varve.protocol.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * One configuration key: its name, type, range, default and meaning. Immutable. Sizes and times are plain numbers as in Kafka's files; the
 * key's name carries the unit ({@code …bytes}, {@code …ms}).
 *
 * @param <T> the value's type
 */
public final class ConfigKey<T> {

    private final String name;
    private final String doc;
    private final String type;
    private final Optional<String> defaultText;
    private final boolean required;
    private final Parser<T> parser;

    private ConfigKey(
            String name, String doc, String type, Optional<String> defaultText, boolean required, Parser<T> parser) {
        this.name = Objects.requireNonNull(name, "name");
        this.doc = Objects.requireNonNull(doc, "doc");
        this.type = type;
        this.defaultText = defaultText;
        this.required = required;
        this.parser = parser;
    }

    /** Any text. */
    public static ConfigKey<String> text(String name, String doc) {
        return new ConfigKey<>(name, doc, "text", Optional.empty(), true, text -> text);
    }

    /** A whole number between two bounds, inclusive. */
    public static ConfigKey<Integer> integer(String name, String doc, int min, int max) {
        return new ConfigKey<>(name, doc, range(min, max, Integer.MAX_VALUE), Optional.empty(), true, text ->
                (int) wholeNumber(text, min, max));
    }

    /** A whole number between two bounds, inclusive. */
    public static ConfigKey<Long> number(String name, String doc, long min, long max) {
        return new ConfigKey<>(
                name,
                doc,
                range(min, max, Long.MAX_VALUE),
                Optional.empty(),
                true,
                text -> wholeNumber(text, min, max));
    }

    /** A number with decimals between two bounds, inclusive. */
    public static ConfigKey<Double> decimal(String name, String doc, double min, double max) {
        return new ConfigKey<>(
                name,
                doc,
                "a number from " + min + " to " + max,
                Optional.empty(),
                true,
                text -> decimalNumber(text, min, max));
    }

    /** {@code true} or {@code false}. */
    public static ConfigKey<Boolean> bool(String name, String doc) {
        return new ConfigKey<>(name, doc, "true or false", Optional.empty(), true, ConfigKey::truth);
    }

    /** One of an enum's constants, in any case, with {@code -} or {@code _} between its words. */
    public static <E extends Enum<E>> ConfigKey<E> choice(String name, String doc, Class<E> of) {
        String choices = Arrays.stream(of.getEnumConstants())
                .map(c -> c.name().toLowerCase(Locale.ROOT).replace('_', '-'))
                .collect(Collectors.joining(", "));
        return new ConfigKey<>(name, doc, "one of " + choices, Optional.empty(), true, text -> {
            for (E constant : of.getEnumConstants()) {
                if (constant.name().equalsIgnoreCase(text.replace('-', '_'))) {
                    return constant;
                }
            }
            throw new WrongValue("is none of " + choices);
        });
    }

    /** Texts with commas between them; blanks around each are dropped; may be empty. */
    public static ConfigKey<List<String>> list(String name, String doc) {
        return new ConfigKey<>(name, doc, "list with commas", Optional.empty(), true, ConfigKey::split);
    }

    /** A directory or file. */
    public static ConfigKey<Path> path(String name, String doc) {
        return new ConfigKey<>(name, doc, "path", Optional.empty(), true, ConfigKey::toPath);
    }

    /** Directories or files with commas between them, at least one. */
    public static ConfigKey<List<Path>> paths(String name, String doc) {
        return new ConfigKey<>(name, doc, "paths with commas", Optional.empty(), true, text -> {
            List<Path> paths = new ArrayList<>();
            for (String one : split(text)) {
                paths.add(toPath(one));
            }
            if (paths.isEmpty()) {
                throw new WrongValue("names no path");
            }
            return List.copyOf(paths);
        });
    }

    /** A {@code host:port}. */
    public static ConfigKey<HostPort> hostPort(String name, String doc) {
        return new ConfigKey<>(name, doc, "host:port", Optional.empty(), true, HostPort::parse);
    }

    /** Numbered addresses, {@code 1@host:port,2@host:port}: the nodes of the metadata service. */
    public static ConfigKey<List<NodeAddress>> nodes(String name, String doc) {
        return new ConfigKey<>(name, doc, "id@host:port with commas", Optional.empty(), true, text -> {
            List<NodeAddress> nodes = new ArrayList<>();
            for (String one : split(text)) {
                NodeAddress node = NodeAddress.parse(one);
                if (nodes.stream().anyMatch(other -> other.id() == node.id())) {
                    throw new WrongValue("names node " + node.id() + " twice");
                }
                nodes.add(node);
            }
            if (nodes.isEmpty()) {
                throw new WrongValue("names no node");
            }
            return List.copyOf(nodes);
        });
    }

    /** The same key with a default, given as it would stand in the file. */
    public ConfigKey<T> withDefault(String text) {
        try {
            parser.parse(text);
        } catch (WrongValue e) {
            throw new IllegalArgumentException("The default of " + name + " " + e.getMessage(), e);
        }
        return new ConfigKey<>(name, doc, type, Optional.of(text), false, parser);
    }

    /** The same key, which may be left out and then has no value: read it with {@link Config#find}. */
    public ConfigKey<T> optional() {
        return new ConfigKey<>(name, doc, type, Optional.empty(), false, parser);
    }

    /** A key of the same form for what {@code convert} makes of the value; it throws {@link WrongValue} for what it does not take. */
    public <U> ConfigKey<U> as(String typeName, Function<T, U> convert) {
        return new ConfigKey<>(name, doc, typeName, defaultText, required, text -> convert.apply(parser.parse(text)));
    }

    /** Its name in the file. */
    public String name() {
        return name;
    }

    /** What it is for. */
    public String doc() {
        return doc;
    }

    /** Its type and range, in words. */
    public String type() {
        return type;
    }

    /** What it is if it is left out, as it would stand in the file. */
    public Optional<String> defaultText() {
        return defaultText;
    }

    /** Whether it has to be set. */
    public boolean isRequired() {
        return required;
    }

    /** The environment variable that overrides it: {@code VARVE_BOOKIE_ID} for {@code bookie.id}. */
    public String environmentName() {
        return "VARVE_" + name.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
    }

    /** @throws WrongValue with the end of a sentence that begins with the key and the value */
    T parse(String text) {
        return parser.parse(text.trim());
    }

    @Override
    public String toString() {
        return name;
    }

    private static String range(long min, long max, long unbounded) {
        return max == unbounded ? "a whole number from " + min : "a whole number from " + min + " to " + max;
    }

    private static long wholeNumber(String text, long min, long max) {
        long value;
        try {
            value = Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new WrongValue("is no whole number");
        }
        if (value < min || value > max) {
            throw new WrongValue("is not between " + min + " and " + max);
        }
        return value;
    }

    private static double decimalNumber(String text, double min, double max) {
        double value;
        try {
            value = Double.parseDouble(text);
        } catch (NumberFormatException e) {
            throw new WrongValue("is no number");
        }
        if (!(value >= min && value <= max)) {
            throw new WrongValue("is not between " + min + " and " + max);
        }
        return value;
    }

    private static boolean truth(String text) {
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new WrongValue("is neither true nor false");
        };
    }

    private static Path toPath(String text) {
        if (text.isEmpty()) {
            throw new WrongValue("is empty");
        }
        try {
            return Path.of(text);
        } catch (java.nio.file.InvalidPathException e) {
            throw new WrongValue("is no path");
        }
    }

    private static List<String> split(String text) {
        return Arrays.stream(text.split(","))
                .map(String::trim)
                .filter(part -> !part.isEmpty())
                .toList();
    }

    /** Makes a value of what stands in the file. */
    @FunctionalInterface
    private interface Parser<T> {
        T parse(String text);
    }

    /** A value that a key does not take. Its message ends a sentence that begins with the key and the value. */
    public static final class WrongValue extends RuntimeException {

        private static final long serialVersionUID = 1L;

        /** @param message such as "is not between 1 and 3" */
        public WrongValue(String message) {
            super(message);
        }
    }
}
