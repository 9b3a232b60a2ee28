package io.varve.serving.request;

import java.util.Optional;
import org.apache.kafka.common.requests.AbstractResponse;

/**
 * What comes of a request.
 *
 * @param response the answer, or nothing ({@code acks=0})
 * @param whenGone run once when the answer is on its way to the socket or was dropped, on the connection's event loop: gives back what was
 *     reserved for it
 */
public record Answer(Optional<AbstractResponse> response, Runnable whenGone) {

    /** Says that there is nothing to send. */
    public static final Answer NONE = new Answer(Optional.empty(), () -> {});

    /** A plain answer. */
    public static Answer of(AbstractResponse response) {
        return new Answer(Optional.of(response), () -> {});
    }

    /** An answer for which something was reserved. */
    public static Answer of(AbstractResponse response, Runnable whenGone) {
        return new Answer(Optional.of(response), whenGone);
    }
}
