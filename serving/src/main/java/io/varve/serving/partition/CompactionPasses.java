package io.varve.serving.partition;

import io.varve.serving.core.compaction.CompactionPass;
import io.varve.serving.core.compaction.CompactionRules;
import io.varve.serving.core.compaction.NewestOffsets;
import io.varve.serving.core.compaction.Rewriting;
import io.varve.serving.kafka.record.KafkaRecordCodec;
import java.security.SecureRandom;

/** Begins passes, one after the other. Used on the compaction's loop. */
public interface CompactionPasses {

    /** @param dirtyOffset where the first reading begins */
    Rewriting begin(CompactionRules rules, long dirtyOffset);

    /** Passes that keep the newest record of each key. The memory for the keys is taken with the first, and kept. */
    static CompactionPasses byKey(long keysBytes) {
        return new CompactionPasses() {
            private NewestOffsets newest;

            @Override
            public Rewriting begin(CompactionRules rules, long dirtyOffset) {
                if (newest == null) {
                    SecureRandom random = new SecureRandom();
                    newest = new NewestOffsets(keysBytes, random.nextLong(), random.nextLong());
                }
                newest.clear();
                return new CompactionPass(rules, dirtyOffset, newest, new KafkaRecordCodec());
            }
        };
    }
}
