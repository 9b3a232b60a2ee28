package io.varve.bookie.task;

import io.varve.metadata.model.ObjectRef;

/** How a task ended. */
public sealed interface TaskOutcome {

    /** It was carried out. */
    record Done() implements TaskOutcome {}

    /** An offload was carried out: the object was read back and verified (I-10). */
    record Uploaded(ObjectRef object) implements TaskOutcome {}

    /** It can't be done by this bookie now. @param reason one line */
    record Failed(String reason) implements TaskOutcome {}

    /** It could not be done now, but nobody else can do it better: this bookie tries it again later. @param reason one line */
    record TryAgain(String reason) implements TaskOutcome {}
}
