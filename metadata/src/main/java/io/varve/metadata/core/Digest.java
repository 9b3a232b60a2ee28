package io.varve.metadata.core;

import io.varve.protocol.meta.MetadataRecord;
import java.util.List;

/** A running fingerprint of records: tells two nodes that should have the same state and don't from two that do. Not cryptographic. */
final class Digest {

    private static final long PRIME = 0x100000001b3L;

    private Digest() {}

    static long fold(long digest, List<MetadataRecord> records) {
        long folded = digest;
        for (MetadataRecord record : records) {
            folded = fold(folded, record);
        }
        return folded;
    }

    private static long fold(long digest, MetadataRecord record) {
        byte[] bytes = record.toByteArray();
        long folded = digest ^ bytes.length;
        for (byte each : bytes) {
            folded = (folded ^ (each & 0xff)) * PRIME;
        }
        return folded;
    }
}
