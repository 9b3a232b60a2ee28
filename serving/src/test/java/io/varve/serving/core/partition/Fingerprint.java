package io.varve.serving.core.partition;

import io.varve.metadata.model.SegmentDescriptor;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** All that an object of ours holds, as text, so that a search can tell whether it was in a state before. What is passed to {@code skip} is left out. */
final class Fingerprint {

    private static final ClassValue<List<Field>> FIELDS = new ClassValue<>() {
        @Override
        protected List<Field> computeValue(Class<?> of) {
            List<Field> fields = new ArrayList<>();
            for (Class<?> type = of; type != Object.class; type = type.getSuperclass()) {
                for (Field field : type.getDeclaredFields()) {
                    if (!Modifier.isStatic(field.getModifiers())) {
                        field.setAccessible(true);
                        fields.add(field);
                    }
                }
            }
            return fields;
        }
    };

    private final StringBuilder text = new StringBuilder();
    private final IdentityHashMap<Object, Integer> seen = new IdentityHashMap<>();
    private final Object skip;

    private Fingerprint(Object skip) {
        this.skip = skip;
    }

    static String of(Object root, Object skip) {
        Fingerprint fingerprint = new Fingerprint(skip);
        fingerprint.walk(root);
        return fingerprint.text.toString();
    }

    private void walk(Object value) {
        if (value == null || value == skip || value instanceof LeaderOptions) {
            text.append('~');
        } else if (value instanceof SegmentDescriptor segment) {
            segment(text, segment);
        } else if (value instanceof Collection<?> all) {
            text.append('[');
            all.forEach(this::walk);
            text.append(']');
        } else if (value instanceof Map<?, ?> map) {
            map.forEach((k, v) -> {
                walk(k);
                walk(v);
            });
        } else if (value.getClass().isArray()) {
            for (int i = 0; i < Array.getLength(value); i++) {
                walk(Array.get(value, i));
            }
        } else if (!value.getClass().getName().startsWith("io.varve")
                || value instanceof Enum
                || value instanceof Record) {
            text.append(value).append(',');
        } else if (seen.putIfAbsent(value, seen.size()) != null) {
            text.append('^').append(seen.get(value));
        } else {
            fields(value);
        }
    }

    /** What of a segment changes while it exists. */
    static void segment(StringBuilder text, SegmentDescriptor segment) {
        text.append('s')
                .append(segment.id().value())
                .append(segment.state().ordinal())
                .append(segment.startOffset())
                .append(',')
                .append(segment.endOffset());
    }

    private void fields(Object value) {
        text.append(value.getClass().getSimpleName()).append('{');
        for (Field field : FIELDS.get(value.getClass())) {
            try {
                walk(field.get(value));
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e);
            }
        }
        text.append('}');
    }
}
