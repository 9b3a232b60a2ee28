package io.varve.serving.core.partition;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A state of the search as a number, by which the search can tell that it was there before. What belongs to one bookie goes into that bookie's column, and the columns are
 * put together in order of what they hold: states that differ in nothing but the bookies' names have one number.
 *
 * <p>Of a leader everything counts that can make a difference to what it does: all fields of its parts but clocks, options and the numbers of tickets, of which only counts
 * whether one is out. Two different states have the same number by accident about once in 2^64 divided by the number of states squared.
 */
final class Fingerprint {

    /** Fields that say nothing: what all states share, what was handed out, and time, which stands still here. */
    private static final Set<Class<?>> SHARED =
            Set.of(Tenure.class, LeaderOptions.class, SegmentRules.class, LeaderEffects.class);

    private static final Set<String> UNTOLD = Set.of("tickets", "nowNs", "lagTarget", "lagSinceNs", "openedNs");

    /** Their arrays have an element for each replica. */
    private static final Set<Class<?>> BY_REPLICA =
            Set.of(Fences.class, FenceTally.class, Carrying.class, ReplicationTracker.class);

    private static final ClassValue<Field[]> FIELDS = new ClassValue<>() {
        @Override
        protected Field[] computeValue(Class<?> of) {
            List<Field> fields = new ArrayList<>();
            for (Class<?> type = of; type != Object.class; type = type.getSuperclass()) {
                for (Field field : type.getDeclaredFields()) {
                    if (!Modifier.isStatic(field.getModifiers())
                            && !SHARED.contains(field.getType())
                            && !UNTOLD.contains(field.getName())) {
                        field.setAccessible(true);
                        fields.add(field);
                    }
                }
            }
            return fields.toArray(Field[]::new);
        }
    };

    private static final Field TENURE = field(PartitionLeader.class, "tenure");

    private final long[] columns;
    private long common = 0x2545f4914f6cdd1dL;

    Fingerprint(int bookies) {
        columns = new long[bookies];
    }

    /** A number that all columns share. */
    void add(long value) {
        common = mixed(common, value);
    }

    /** A text that all columns share. */
    void add(String text) {
        add(numberOf(text));
    }

    /** Something of one bookie. */
    void add(int bookie, long value) {
        columns[bookie] = mixed(columns[bookie], value);
    }

    /** Likewise. */
    void add(int bookie, String text) {
        add(bookie, numberOf(text));
    }

    /** All that a leader holds. */
    void add(PartitionLeader<?> leader) {
        try {
            fields(TENURE.get(leader));
        } catch (IllegalAccessException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    long finish() {
        Arrays.sort(columns);
        for (long column : columns) {
            add(column);
        }
        return common;
    }

    private void fields(Object value) throws IllegalAccessException {
        add(value.getClass().getSimpleName());
        boolean byReplica = BY_REPLICA.contains(value.getClass());
        for (Field field : FIELDS.get(value.getClass())) {
            Object held = field.get(value);
            if (byReplica && held != null && held.getClass().isArray()) {
                for (int r = 0; r < columns.length; r++) {
                    add(r, elementary(Array.get(held, r)));
                }
            } else {
                walk(held);
            }
        }
    }

    private void walk(Object value) throws IllegalAccessException {
        if (value == null) {
            add(-7);
        } else if (value instanceof EntryWindow<?> window) {
            add(window.count());
            for (int i = 0; i < window.count(); i++) {
                add(window.firstOffset(i));
                add((String) window.payload(i));
            }
        } else if (value instanceof Collection<?> all) {
            add(all.size());
            for (Object each : all) {
                walk(each);
            }
        } else if (value instanceof Map<?, ?> map) {
            add(map.toString());
        } else if (isElementary(value)) {
            add(elementary(value));
        } else {
            fields(value);
        }
    }

    private static boolean isElementary(Object value) {
        return value instanceof Step
                || value instanceof Record
                || value instanceof Enum
                || !value.getClass().getName().startsWith("io.varve");
    }

    private static long elementary(Object value) {
        if (value instanceof Number number) {
            return number.longValue();
        }
        if (value instanceof Boolean truth) {
            return truth ? 1 : 0;
        }
        if (value instanceof Step step) {
            return (step.isUnderWay() ? 1 : 0) + (step.isFailing() ? 2 : 0);
        }
        return numberOf(value.toString());
    }

    private static long numberOf(String text) {
        long hash = 0xcbf29ce484222325L;
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * 0x100000001b3L;
        }
        return hash;
    }

    /** SplitMix64's finalizer, over what came before and what comes. */
    private static long mixed(long before, long value) {
        long z = before * 0x9e3779b97f4a7c15L + value + 1;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }

    private static Field field(Class<?> of, String name) {
        try {
            Field field = of.getDeclaredField(name);
            field.setAccessible(true);
            return field;
        } catch (NoSuchFieldException gone) {
            throw new AssertionError(gone);
        }
    }
}
