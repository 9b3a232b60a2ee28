package io.varve.protocol.rpc;

/** What a process is, as it says in its hello. */
public enum RpcRole {
    /** For expectations only: whatever answers. */
    ANY(0),
    /** A node of the metadata service. */
    METADATA(1),
    /** A bookie. */
    BOOKIE(2),
    /** A broker. */
    BROKER(3),
    /** A command-line tool. */
    TOOL(4);

    private final int code;

    RpcRole(int code) {
        this.code = code;
    }

    /** The byte on the wire. */
    int code() {
        return code;
    }

    /** The role of that byte; {@link #ANY} for roles of a later version. */
    static RpcRole ofCode(int code) {
        for (RpcRole role : values()) {
            if (role.code == code) {
                return role;
            }
        }
        return ANY;
    }
}
