package io.varve.metadata.net;

/** The numbers of the service's methods on the internal RPC. Never reused. */
public final class Methods {

    /** A MetadataCommand; answered with a SubmitReply. */
    public static final int SUBMIT = 1;

    /** Empty; answered with a ReadIndexReply. */
    public static final int READ_INDEX = 2;

    /** A HeartbeatRequest; answered with a HeartbeatReply. */
    public static final int HEARTBEAT = 3;

    /** Empty; answered with a LocateReply, by any node. */
    public static final int LOCATE = 4;

    /** Empty; answered with a StatusReply, by any node. */
    public static final int STATUS = 5;

    /** A ChangeMembersRequest; answered with a SubmitReply. */
    public static final int CHANGE_MEMBERS = 6;

    /** An IntroduceRequest; answered with an IntroduceReply, by any node. */
    public static final int INTRODUCE = 7;

    /** A stream: the client sends a WatchRequest, the node WatchMessages. */
    public static final int WATCH = 16;

    private Methods() {}
}
