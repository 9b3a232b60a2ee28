package io.varve.serving.request;

import java.util.Optional;
import org.apache.kafka.common.requests.AbstractResponse;

/**
 * What comes of a request.
 *
 * @param response the answer, or nothing ({@code acks=0})
 * @param close whether the connection is to be closed, the only way to tell the sender of an {@code acks=0} of an error
 * @param whenGone run once when the answer has gone to the socket or was dropped, on the connection's event loop: gives back what was
 *     reserved for it
 */
public record Answer(Optional<AbstractResponse> response, boolean close, Runnable whenGone) {

    /** Nothing was reserved. */
    public static final Runnable NOTHING = () -> {};

    /** Says that there is nothing to send. */
    public static final Answer NONE = new Answer(Optional.empty(), false, NOTHING);

    /** Says that there is nothing to send and that the connection is of no more use. */
    public static final Answer CLOSE = new Answer(Optional.empty(), true, NOTHING);

    /** A plain answer. */
    public static Answer of(AbstractResponse response) {
        return new Answer(Optional.of(response), false, NOTHING);
    }

    /** An answer for which something was reserved. */
    public static Answer of(AbstractResponse response, Runnable whenGone) {
        return new Answer(Optional.of(response), false, whenGone);
    }
}
