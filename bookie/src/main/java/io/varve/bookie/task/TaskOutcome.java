package io.varve.bookie.task;

import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectRef;
import java.util.List;
import java.util.Optional;

/** How a task ended. */
public sealed interface TaskOutcome {

    /** It was carried out. */
    record Done() implements TaskOutcome {}

    /** An offload was carried out: the object was read back and verified (I-10). */
    record Uploaded(ObjectRef object) implements TaskOutcome {}

    /**
     * Work on a manifest was carried out: what was written was read back, or what was to be deleted is gone.
     *
     * @param manifest to be committed; empty if nothing of it is left
     * @param superseded keys that nothing names once it is
     */
    record ManifestEdited(Optional<ManifestRef> manifest, List<String> superseded) implements TaskOutcome {
        public ManifestEdited {
            superseded = List.copyOf(superseded);
        }
    }

    /**
     * It can't be done by this bookie now; a copy that was to be deleted is whole, and stays for readers.
     *
     * @param reason one line
     * @param leftNothing of an upload: certainly no object came of it, nor will
     */
    record Failed(String reason, boolean leftNothing) implements TaskOutcome {

        /** Something may have come of it. */
        public Failed(String reason) {
            this(reason, false);
        }
    }

    /** It could not be done now, but nobody else can do it better: this bookie tries it again later. @param reason one line */
    record TryAgain(String reason) implements TaskOutcome {}

    /**
     * It could not be done, nobody else can do it, and it doesn't pass by itself: this bookie tries it again later, and the metadata service is told each time, so that people learn of it.
     *
     * @param reason one line, {@code CLASS: text}
     */
    record Stuck(String reason) implements TaskOutcome {}
}
