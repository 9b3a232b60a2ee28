package io.varve.bookie.core;

/**
 * What a journal record says. The fixed part follows the record's header and is covered by its checksum; what comes after it is the payload,
 * which carries a checksum of its own.
 */
public enum RecordType {
    /** segment 8, high watermark 8, then an entry: 24 of header, and the payload. */
    ENTRY(1, 40),
    /** segment 8, topic 16, partition 4, epoch 4, start offset 8. */
    CREATE(2, 40),
    /** topic 16, partition 4, epoch 4. */
    FENCE(3, 24),
    /** segment 8, end 8, epoch 4, zero 4. */
    SEAL(4, 24),
    /** segment 8. */
    DELETE(5, 8),
    /** segment 8, offset 8, crc32c of the state 4, zero 4, then the state. */
    CHECKPOINT(6, 24),
    /** segment 8, settled end 8, settled bytes 8. */
    SETTLED(7, 24),
    /** segment 8. */
    QUARANTINE(8, 8),
    /** segment 8, topic 16, partition 4, epoch 4, start offset 8, end 8, bytes 8. */
    IMPORT(9, 56),
    /** Nothing: that it is there proves that everything before it was durable. */
    MARK(10, 0);

    private static final RecordType[] BY_CODE = new RecordType[16];

    static {
        for (RecordType type : values()) {
            BY_CODE[type.code] = type;
        }
    }

    private final int code;
    private final int fixedBytes;

    RecordType(int code, int fixedBytes) {
        this.code = code;
        this.fixedBytes = fixedBytes;
    }

    /** The number on disk. Never reused. */
    public int code() {
        return code;
    }

    /** Length of the fixed part. */
    public int fixedBytes() {
        return fixedBytes;
    }

    /** Whether a payload may follow the fixed part. */
    public boolean hasPayload() {
        return this == ENTRY || this == CHECKPOINT;
    }

    /** The type of that code, or {@code null}. */
    public static RecordType ofCode(int code) {
        return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    }
}
