package io.varve.protocol.storage;

/** The methods of a bookie on the internal RPC. Numbers are never used for anything else. */
public final class StorageMethods {

    /** A stream of {@linkplain AppendFrames entries} to one replica. */
    public static final int APPEND_STREAM = 0x101;

    /** A call: {@linkplain StorageCodec raise fences}. */
    public static final int FENCE = 0x110;

    /** A call: {@linkplain StorageCodec read entries}. */
    public static final int READ = 0x111;

    /** A call: {@linkplain StorageCodec read a checkpoint}. */
    public static final int READ_CHECKPOINT = 0x112;

    /** A call: {@linkplain StorageCodec say what a replica holds}. */
    public static final int DESCRIBE = 0x113;

    private StorageMethods() {}
}
