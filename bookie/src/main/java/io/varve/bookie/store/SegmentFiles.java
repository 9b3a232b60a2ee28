package io.varve.bookie.store;

import io.varve.base.SegmentId;

/** The names of the files that a settled segment has for itself. */
final class SegmentFiles {

    /** The directory. */
    static final String DIRECTORY = "segments";

    private SegmentFiles() {}

    /** Its entries. */
    static String data(SegmentId segment) {
        return DIRECTORY + "/" + digits(segment) + ".segment";
    }

    /** Where in it offsets are. */
    static String index(SegmentId segment) {
        return DIRECTORY + "/" + digits(segment) + ".index";
    }

    /** The checkpoints of its owner. */
    static String checkpoints(SegmentId segment) {
        return DIRECTORY + "/" + digits(segment) + ".checkpoints";
    }

    /** Its entries while it is being copied from another bookie. */
    static String importing(SegmentId segment) {
        return DIRECTORY + "/" + digits(segment) + ".import";
    }

    /** The segment that a file without its directory is for, or -1. */
    static long segmentOf(String name) {
        if (name.length() < 20 || name.charAt(19) != '.') {
            return -1;
        }
        try {
            return Long.parseLong(name, 0, 19, 10);
        } catch (NumberFormatException other) {
            return -1;
        }
    }

    private static String digits(SegmentId segment) {
        return String.format("%019d", segment.value());
    }
}
