package io.varve.tiering.core;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Reads fields in order from bytes that are not to be trusted: never beyond the end, no length taken at its word. */
final class FieldReader {

    private final ByteBuffer from;

    FieldReader(ByteBuffer bytes) {
        this.from = bytes.slice();
    }

    int int32() throws ObjectFormatException {
        need(4);
        return from.getInt();
    }

    long int64() throws ObjectFormatException {
        need(8);
        return from.getLong();
    }

    /** A number that is not negative, and for which {@code bytesEach} bytes each are still there. */
    int count(String what, int bytesEach) throws ObjectFormatException {
        int count = int32();
        if (count < 0 || (long) count * bytesEach > from.remaining()) {
            throw ObjectFormatException.corrupt(what + " is " + count);
        }
        return count;
    }

    String string() throws ObjectFormatException {
        need(2);
        int length = Short.toUnsignedInt(from.getShort());
        need(length);
        byte[] text = new byte[length];
        from.get(text);
        return new String(text, StandardCharsets.UTF_8);
    }

    /** A length that later minor versions may make longer, never shorter. */
    int atLeast(String what, int min) throws ObjectFormatException {
        int value = int32();
        if (value < min) {
            throw ObjectFormatException.corrupt(what + " is " + value);
        }
        return value;
    }

    /** The next bytes by themselves; what a later version appended to them is left unread. */
    FieldReader section(int bytes) throws ObjectFormatException {
        if (bytes < 0) {
            throw ObjectFormatException.corrupt("a section of " + bytes + " bytes");
        }
        need(bytes);
        FieldReader section = new FieldReader(from.slice(from.position(), bytes));
        from.position(from.position() + bytes);
        return section;
    }

    private void need(int bytes) throws ObjectFormatException {
        if (from.remaining() < bytes) {
            throw ObjectFormatException.corrupt("it ends in the middle of a field");
        }
    }
}
