package io.varve.serving.kafka.wire;

/** Bytes that are no request we can answer in its own format. The connection they came in on has to be closed. */
public final class MalformedRequestException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** @param message one line that names what is wrong, without bytes of the request */
    public MalformedRequestException(String message) {
        super(message);
    }

    /** @param message one line that names what is wrong, without bytes of the request */
    public MalformedRequestException(String message, Throwable cause) {
        super(message, cause);
    }
}
