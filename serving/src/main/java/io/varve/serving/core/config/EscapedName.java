package io.varve.serving.core.config;

import java.nio.charset.StandardCharsets;

/** Any name as a part of a configuration key: letters, digits, {@code -} and {@code _} as they are, all else as {@code %} and two hex digits. */
public final class EscapedName {

    private EscapedName() {}

    /** Escapes. */
    public static String encode(String name) {
        StringBuilder text = new StringBuilder(name.length());
        for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
            if (b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '-' || b == '_') {
                text.append((char) b);
            } else {
                text.append('%').append(Character.forDigit(b >> 4 & 0xf, 16)).append(Character.forDigit(b & 0xf, 16));
            }
        }
        return text.toString();
    }

    /**
     * Reads what {@link #encode} writes.
     *
     * @throws IllegalArgumentException if {@code text} is nothing of the kind
     */
    public static String decode(String text) {
        byte[] bytes = new byte[text.length()];
        int length = 0;
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) == '%') {
                if (i + 2 >= text.length()) {
                    throw new IllegalArgumentException("Not an escaped name: " + text);
                }
                bytes[length++] = (byte) Integer.parseInt(text, i + 1, i + 3, 16);
                i += 2;
            } else {
                bytes[length++] = (byte) text.charAt(i);
            }
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }
}
