package io.varve.protocol.rpc;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/**
 * The first thing each side says, before any frame. Big-endian.
 *
 * <pre>
 * client
 *  0       4        6     8     10     11      15            23             24            28
 *  +-------+--------+-----+-----+------+-------+-------------+--------------+-------------+-----------+
 *  | magic | length | min | max | role | node  | incarnation | role wanted  | node wanted | cluster   |
 *  +-------+--------+-----+-----+------+-------+-------------+--------------+-------------+-----------+
 * server
 *  0       4        6      8         10     11     15            23          .
 *  +-------+--------+------+---------+------+------+-------------+-----------+---------+
 *  | magic | length | code | version | role | node | incarnation | cluster   | message |
 *  +-------+--------+------+---------+------+------+-------------+-----------+---------+
 * </pre>
 *
 * {@code magic} is "VRPC"; {@code length} counts what follows it; strings are two bytes of length and UTF-8. The client offers the versions
 * {@code min} to {@code max}; the server answers with {@code code} 0 and the version it picked, or with a status, its own newest version and a
 * line that says why, and closes. What follows the known fields is from a later version and is ignored.
 */
final class Hello {

    /** "VRPC". */
    static final int MAGIC = 0x56525043;

    /** The oldest version that this code speaks. */
    static final int VERSION_MIN = 1;

    /** The newest version that this code speaks. */
    static final int VERSION_MAX = 1;

    /** Bytes before what {@code length} counts. */
    static final int PREFIX_BYTES = 6;

    /** The longest hello that is taken. */
    static final int LENGTH_MAX = 4096;

    /** The longest string sent in one. */
    private static final int STRING_BYTES_MAX = 1024;

    private Hello() {}

    /** What the client says. */
    record Offer(int versionMin, int versionMax, RpcIdentity self, RpcRole roleWanted, int nodeWanted) {

        void writeTo(ByteBuf to) {
            int start = begin(to);
            to.writeShort(versionMin).writeShort(versionMax);
            writeIdentity(to, self);
            to.writeByte(roleWanted.code()).writeInt(nodeWanted);
            writeString(to, self.clusterId());
            end(to, start);
        }

        /** @throws IndexOutOfBoundsException if it is cut short */
        static Offer read(ByteBuf from) {
            int min = from.readUnsignedShort();
            int max = from.readUnsignedShort();
            RpcIdentity self = readIdentity(from);
            RpcRole roleWanted = RpcRole.ofCode(from.readUnsignedByte());
            int nodeWanted = from.readInt();
            return new Offer(min, max, self.inCluster(readString(from)), roleWanted, nodeWanted);
        }
    }

    /** What the server answers. {@code code} is 0 or a {@link RpcStatus}'s. */
    record Answer(int code, int version, RpcIdentity self, String message) {

        void writeTo(ByteBuf to) {
            int start = begin(to);
            to.writeShort(code).writeShort(version);
            writeIdentity(to, self);
            writeString(to, self.clusterId());
            writeString(to, message);
            end(to, start);
        }

        /** @throws IndexOutOfBoundsException if it is cut short */
        static Answer read(ByteBuf from) {
            int code = from.readUnsignedShort();
            int version = from.readUnsignedShort();
            RpcIdentity self = readIdentity(from);
            String cluster = readString(from);
            return new Answer(code, version, self.inCluster(cluster), readString(from));
        }
    }

    /** The server's decision. */
    static Answer answer(Offer offer, RpcIdentity server) {
        if (offer.versionMax() < VERSION_MIN || offer.versionMin() > VERSION_MAX) {
            return refuse(
                    RpcStatus.UNSUPPORTED,
                    server,
                    "the caller speaks versions " + offer.versionMin() + " to " + offer.versionMax()
                            + " of the internal "
                            + "protocol, " + server + " speaks " + VERSION_MIN + " to " + VERSION_MAX
                            + (offer.versionMax() < VERSION_MIN ? ": the caller is too old" : ": the caller is newer"));
        }
        if (offer.roleWanted() != RpcRole.ANY && offer.roleWanted() != server.role()
                || offer.nodeWanted() != RpcIdentity.NO_NODE && offer.nodeWanted() != server.nodeId()) {
            return refuse(
                    RpcStatus.REFUSED,
                    server,
                    "this is " + server + ", not " + new RpcIdentity(offer.roleWanted(), offer.nodeWanted(), 0, ""));
        }
        if (!fits(offer.self().clusterId(), server.clusterId())) {
            return refuse(
                    RpcStatus.REFUSED,
                    server,
                    server + " is of cluster " + server.clusterId() + ", the caller of "
                            + offer.self().clusterId());
        }
        return new Answer(0, Math.min(VERSION_MAX, offer.versionMax()), server, "");
    }

    /** Whether two cluster ids can be the same cluster's: an empty one is not known yet. */
    static boolean fits(String one, String other) {
        return one.isEmpty() || other.isEmpty() || one.equals(other);
    }

    private static Answer refuse(RpcStatus status, RpcIdentity server, String message) {
        return new Answer(status.code(), VERSION_MAX, server, message);
    }

    private static int begin(ByteBuf to) {
        to.writeInt(MAGIC).writeShort(0);
        return to.writerIndex();
    }

    private static void end(ByteBuf to, int start) {
        to.setShort(start - Short.BYTES, to.writerIndex() - start);
    }

    private static void writeIdentity(ByteBuf to, RpcIdentity identity) {
        to.writeByte(identity.role().code()).writeInt(identity.nodeId()).writeLong(identity.incarnation());
    }

    private static RpcIdentity readIdentity(ByteBuf from) {
        return new RpcIdentity(RpcRole.ofCode(from.readUnsignedByte()), from.readInt(), from.readLong(), "");
    }

    private static void writeString(ByteBuf to, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(bytes.length, STRING_BYTES_MAX);
        to.writeShort(length).writeBytes(bytes, 0, length);
    }

    private static String readString(ByteBuf from) {
        int length = from.readUnsignedShort();
        return from.readCharSequence(length, StandardCharsets.UTF_8).toString();
    }
}
