package io.varve.tiering.core;

import io.varve.base.Invariant;
import io.varve.protocol.storage.EntryFormat;

/**
 * The form of an object in the bucket: one or more adjoining sealed segments of one partition. Written once, front to back, by
 * {@link ObjectBuilder}; described in {@code docs/FORMATS.md}.
 *
 * <pre>
 *  0                                                                                             length
 *  +--------+---------+-- - --+-----------+---------+-- - --+-------+--------+---------+
 *  | header | block 0 |       | block n−1 | section |       | index | footer | trailer |
 *  +--------+---------+-- - --+-----------+---------+-- - --+-------+--------+---------+
 *                                                           ^------- the tail -------^
 * </pre>
 *
 * <p>A block is a run of whole entries ({@link EntryFormat}), raw or as one LZ4 frame. A section is an opaque stretch, such as an
 * owner's checkpoint. The index says where each block lies, what it starts with and how new its newest record is. The footer says whose
 * data this is. The trailer has a fixed size, so that one ranged GET of the last {@value #TAIL_GUESS_BYTES} bytes finds the rest.
 *
 * <p><b>Checksums.</b> Everything is covered by CRC32C: each block by its index entry, each section, the index and the header by the
 * footer, the footer and the trailer by the trailer. The trailer's checksum therefore stands for the whole object, and is what the
 * metadata remembers of it.
 *
 * <p><b>Versions.</b> Magic, place and size of the trailer and the rule for its checksum never change, so that damage is told from
 * novelty. A later minor version may append to the header, to an index entry, to the footer, and may bring new types of section: older
 * readers skip them. A later major version is refused.
 */
public final class ObjectFormat {

    /** The version that this build writes. */
    public static final int MAJOR = 1;

    /** See {@link #MAJOR}. */
    public static final int MINOR = 0;

    /** "VARVEOBJ". */
    public static final long HEADER_MAGIC = 0x56_41_52_56_45_4f_42_4aL;

    /** "VARVEEND". */
    public static final long TRAILER_MAGIC = 0x56_41_52_56_45_45_4e_44L;

    /** The header of this version. */
    public static final int HEADER_BYTES = 64;

    /** An index entry of this version; later minor versions may have longer ones. */
    public static final int INDEX_ENTRY_BYTES = 40;

    /** The same for ever. */
    public static final int TRAILER_BYTES = 32;

    /** What a reader asks for first when it opens an object: enough for the index of a gigabyte. */
    public static final int TAIL_GUESS_BYTES = 64 * 1024;

    /** No tail is longer; checked before anything is allocated for one. */
    public static final int TAIL_BYTES_MAX = 64 * 1024 * 1024;

    /** No block holds more: a single entry of the largest payload. */
    public static final int BLOCK_RAW_BYTES_MAX = EntryFormat.HEADER_BYTES + EntryFormat.PAYLOAD_BYTES_MAX;

    /** No section is longer. */
    public static final int SECTION_BYTES_MAX = 64 * 1024 * 1024;

    /** A section that holds an owner's checkpoint; its tag is the checkpoint's offset. */
    public static final int SECTION_CHECKPOINT = 1;

    static {
        Invariant.check(TAIL_GUESS_BYTES > TRAILER_BYTES, "the first read of a tail holds the trailer");
        Invariant.check(TAIL_BYTES_MAX >= TAIL_GUESS_BYTES, "the largest tail is no smaller than the usual one");
    }

    private ObjectFormat() {}
}
