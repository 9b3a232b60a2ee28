package io.varve.bookie.core;

import java.util.List;
import java.util.function.LongPredicate;

/**
 * Which full journal file to give back, and which to settle. Age order: the oldest file has had the most time to be needed no more, and what is still
 * needed of it then is what stays long. So what is deleted or offloaded in the meantime is never written twice.
 */
public final class ReclaimPlanner {

    /** No file. */
    public static final long NONE = -1;

    private ReclaimPlanner() {}

    /** The oldest full file that nobody needs, or {@link #NONE}. */
    public static long releasable(List<Long> full, LongPredicate isNeeded) {
        for (long number : full) {
            if (!isNeeded.test(number)) {
                return number;
            }
        }
        return NONE;
    }

    /**
     * The file whose content is to be moved out, or {@link #NONE} as long as the full files together are within the budget.
     *
     * @param full in order of age, needed ones only
     */
    public static long toSettle(List<Long> full, long fileBytes, long unsettledBytesMax) {
        return full.size() * fileBytes > unsettledBytesMax ? full.get(0) : NONE;
    }
}
