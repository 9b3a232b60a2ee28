package io.varve.bookie.core;

import java.util.List;

/**
 * Which full journal file to settle. Age order: the oldest file has had the most time to be needed no more, and what is still
 * needed of it then is what stays long. So what is deleted or offloaded in the meantime is never written twice.
 */
public final class ReclaimPlanner {

    /** No file. */
    public static final long NONE = -1;

    private ReclaimPlanner() {}

    /**
     * The file whose content is to be moved out, or {@link #NONE} as long as the full files together are within the budget.
     *
     * @param full in order of age, needed ones only
     * @param above files up to this one are passed over, because they could not be settled
     */
    public static long toSettle(List<Long> full, long fileBytes, long unsettledBytesMax, long above) {
        if (full.size() * fileBytes <= unsettledBytesMax) {
            return NONE;
        }
        for (long number : full) {
            if (number > above) {
                return number;
            }
        }
        return NONE;
    }
}
