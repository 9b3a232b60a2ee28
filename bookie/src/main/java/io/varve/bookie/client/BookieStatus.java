package io.varve.bookie.client;

/**
 * How a bookie answers. Error, corruption, time-out and "not here" are four answers (I-7); only a truthful replica's end proves absence,
 * and none of these does.
 */
public enum BookieStatus {
    /** Done; for appends: durable. */
    OK(0),
    /** The append's epoch is below the partition's fence (I-4). Final for this owner. */
    FENCED(1),
    /** The append's first offset is past the replica's end. The answer carries the end: send from there (I-3). */
    GAP(2),
    /** This bookie has never heard of the segment, and can vouch that it has lost nothing. */
    NO_SUCH_SEGMENT(3),
    /** The segment was sealed: nothing is appended any more. */
    SEALED(4),
    /** The bookie takes no new data for now: disk full, draining, or its directory went out of service. Roll elsewhere. */
    READ_ONLY(5),
    /** Larger than the bookie takes. */
    TOO_LARGE(6),
    /** What arrived does not have the checksum it claims. */
    BAD_CHECKSUM(7),
    /** The bookie can't vouch for its copy: it lost data or may have. Never proof of anything (I-5). */
    UNKNOWN(8),
    /** Its copy of the range asked for is damaged. It is reported and repaired; ask another replica. */
    CORRUPT(9),
    /** The disk failed to read. Ask another replica. */
    IO_ERROR(10),
    /** Too much is waiting: try again later. */
    OVERLOADED(11),
    /** The offset asked for lies at or beyond the replica's end, which the answer carries. */
    BEYOND_END(12),
    /** No answer in time, or the connection broke: whether it was done is unknown (I-17). Made by the client, never sent. */
    NO_ANSWER(13),
    /** The request made no sense. */
    INVALID(14);

    private static final BookieStatus[] BY_CODE = values();

    private final int code;

    BookieStatus(int code) {
        this.code = code;
    }

    /** The byte on the wire. */
    public int code() {
        return code;
    }

    /** The status of that code; {@link #INVALID} for codes of a later version. */
    public static BookieStatus ofCode(int code) {
        return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : INVALID;
    }
}
