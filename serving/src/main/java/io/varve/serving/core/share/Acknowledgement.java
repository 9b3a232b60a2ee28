package io.varve.serving.core.share;

import java.util.List;

/**
 * What a member says of offsets that it has acquired.
 *
 * @param firstOffset of them
 * @param lastOffset inclusive
 * @param types one for each offset, or one for all: {@link #GAP} to {@link #RENEW}
 */
public record Acknowledgement(long firstOffset, long lastOffset, List<Byte> types) {

    /** There is no record to deliver at the offset. */
    public static final byte GAP = 0;

    /** Dealt with. */
    public static final byte ACCEPT = 1;

    /** Somebody else may try. */
    public static final byte RELEASE = 2;

    /** Nobody should try again. */
    public static final byte REJECT = 3;

    /** Its lock begins anew (KIP-1222). */
    public static final byte RENEW = 4;

    public Acknowledgement {
        types = List.copyOf(types);
    }

    /** Whether it makes sense by itself. */
    boolean isWellFormed() {
        long offsets = lastOffset - firstOffset + 1;
        return offsets >= 1
                && (types.size() == 1 || types.size() == offsets)
                && types.stream().allMatch(type -> type >= GAP && type <= RENEW);
    }

    /** What is said of one of the offsets. */
    byte typeOf(long offset) {
        return types.size() == 1 ? types.get(0) : types.get((int) (offset - firstOffset));
    }

    /** Whether it renews any lock. */
    public boolean renews() {
        return types.contains(RENEW);
    }
}
