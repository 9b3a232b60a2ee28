package io.varve.tiering.core;

import java.nio.ByteBuffer;

/** A manifest's bytes as far as roots and leaves are alike: magic and version first, a checksum over everything last. */
final class ManifestBytes {

    private static final int HEAD_BYTES = 12;
    private static final int CRC_BYTES = 4;

    private ManifestBytes() {}

    /** What stands between the version and the checksum. */
    static FieldReader open(ByteBuffer bytes, long magic) throws ObjectFormatException {
        ByteBuffer all = bytes.slice();
        if (all.limit() < HEAD_BYTES + CRC_BYTES || all.getLong(0) != magic) {
            throw ObjectFormatException.corrupt("a manifest without its magic");
        }
        int crcAt = all.limit() - CRC_BYTES;
        if (all.getInt(crcAt) != Crc.of(all, 0, crcAt)) {
            throw ObjectFormatException.corrupt("a manifest's checksum is wrong");
        }
        if (all.getShort(8) > ObjectFormat.MAJOR) {
            throw ObjectFormatException.unsupported("manifest version " + all.getShort(8) + "." + all.getShort(10));
        }
        return new FieldReader(all.slice(HEAD_BYTES, crcAt - HEAD_BYTES));
    }
}
