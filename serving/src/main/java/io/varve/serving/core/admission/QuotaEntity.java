package io.varve.serving.core.admission;

import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Whom a quota is for: a user, a client id, or both together. Either is absent, the default for all that have none of their own, or a name.
 *
 * @param user who
 * @param clientId by which client
 */
public record QuotaEntity(Optional<String> user, Optional<String> clientId) implements Comparable<QuotaEntity> {

    /** The name that stands for all that have none of their own. No user and no client id is empty here. */
    public static final String DEFAULT = "";

    private static final char ABSENT = '-';
    private static final char PRESENT = '+';

    /** As a part of a configuration key: letters, digits, and what can't be mistaken for a separator. */
    public String encoded() {
        return encoded(user) + ':' + encoded(clientId);
    }

    /**
     * Reads what {@link #encoded()} writes.
     *
     * @throws IllegalArgumentException if {@code text} is nothing of the kind
     */
    public static QuotaEntity decode(String text) {
        int colon = text.indexOf(':');
        if (colon < 1) {
            throw new IllegalArgumentException("Not a quota's entity: " + text);
        }
        return new QuotaEntity(decodePart(text.substring(0, colon)), decodePart(text.substring(colon + 1)));
    }

    private static String encoded(Optional<String> part) {
        if (part.isEmpty()) {
            return String.valueOf(ABSENT);
        }
        StringBuilder text = new StringBuilder().append(PRESENT);
        for (byte b : part.get().getBytes(StandardCharsets.UTF_8)) {
            if (b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '-' || b == '_') {
                text.append((char) b);
            } else {
                text.append('%').append(Character.forDigit(b >> 4 & 0xf, 16)).append(Character.forDigit(b & 0xf, 16));
            }
        }
        return text.toString();
    }

    private static Optional<String> decodePart(String text) {
        if (text.equals(String.valueOf(ABSENT))) {
            return Optional.empty();
        }
        if (text.isEmpty() || text.charAt(0) != PRESENT) {
            throw new IllegalArgumentException("Not a part of a quota's entity: " + text);
        }
        byte[] bytes = new byte[text.length()];
        int length = 0;
        for (int i = 1; i < text.length(); i++) {
            if (text.charAt(i) == '%') {
                bytes[length++] = (byte) Integer.parseInt(text, i + 1, i + 3, 16);
                i += 2;
            } else {
                bytes[length++] = (byte) text.charAt(i);
            }
        }
        return Optional.of(new String(bytes, 0, length, StandardCharsets.UTF_8));
    }

    @Override
    public int compareTo(QuotaEntity other) {
        return encoded().compareTo(other.encoded());
    }
}
