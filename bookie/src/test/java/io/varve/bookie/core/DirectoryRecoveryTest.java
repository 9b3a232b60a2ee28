package io.varve.bookie.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.bookie.core.DirectoryRecovery.Content;
import io.varve.bookie.core.DirectoryRecovery.Cookie;
import io.varve.bookie.core.DirectoryRecovery.Covered;
import io.varve.bookie.core.DirectoryRecovery.Decision;
import io.varve.bookie.core.DirectoryRecovery.DirectoryCase;
import io.varve.bookie.core.DirectoryRecovery.End;
import io.varve.bookie.core.DirectoryRecovery.Entries;
import io.varve.bookie.core.DirectoryRecovery.File;
import io.varve.bookie.core.DirectoryRecovery.FileCase;
import io.varve.bookie.core.DirectoryRecovery.Index;
import io.varve.bookie.core.DirectoryRecovery.Journal;
import io.varve.bookie.core.DirectoryRecovery.ReplicaCase;
import io.varve.bookie.core.DirectoryRecovery.Siblings;
import io.varve.bookie.core.DirectoryRecovery.Snapshots;
import io.varve.bookie.core.DirectoryRecovery.Twin;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Every combination of evidence, one by one. */
class DirectoryRecoveryTest {

    @Test
    void everyDirectoryIsOneCaseAndOnlyOurOwnIsOpened() {
        Set<DirectoryCase> reached = EnumSet.noneOf(DirectoryCase.class);
        for (Cookie cookie : Cookie.values()) {
            for (Content content : Content.values()) {
                for (Twin twin : Twin.values()) {
                    for (Siblings siblings : Siblings.values()) {
                        for (Snapshots snapshots : Snapshots.values()) {
                            DirectoryCase is = DirectoryRecovery.caseOf(cookie, content, twin, siblings, snapshots);
                            reached.add(is);
                            boolean ours = cookie == Cookie.OURS && twin == Twin.NONE;
                            boolean opened = ours && snapshots == Snapshots.READABLE;
                            boolean whole = siblings == Siblings.COMPLETE;
                            assertThat(is.decision() == Decision.OPEN).isEqualTo(opened && whole);
                            assertThat(is.decision() == Decision.OPEN_IN_DOUBT).isEqualTo(opened && !whole);
                            assertThat(is.decision() == Decision.FORMAT)
                                    .isEqualTo(cookie == Cookie.NONE && content == Content.EMPTY);
                        }
                    }
                }
            }
        }
        assertThat(reached).containsExactlyInAnyOrder(DirectoryCase.values());
    }

    @Test
    void everyJournalFileIsOneCaseAndWhatNoSnapshotCoversMustBeThere() {
        Set<FileCase> reached = EnumSet.noneOf(FileCase.class);
        for (Covered covered : Covered.values()) {
            for (File file : File.values()) {
                for (Index index : Index.values()) {
                    FileCase is = DirectoryRecovery.caseOf(covered, file, index);
                    reached.add(is);
                    assertThat(is == FileCase.LOST).isEqualTo(covered == Covered.NO && file != File.INTACT);
                }
            }
        }
        assertThat(reached).containsExactlyInAnyOrder(FileCase.values());
    }

    /** I-5. */
    @Test
    void everyReplicaIsOneCaseAndOnlyWhatIsSurelyWholeIsVouchedFor() {
        Set<ReplicaCase> reached = EnumSet.noneOf(ReplicaCase.class);
        for (Entries entries : Entries.values()) {
            for (Journal journal : Journal.values()) {
                for (End end : End.values()) {
                    ReplicaCase is = DirectoryRecovery.caseOf(entries, journal, end);
                    reached.add(is);
                    assertThat(is.isVouchedFor())
                            .isEqualTo(entries == Entries.COMPLETE && (journal == Journal.WHOLE || end == End.SEALED));
                }
            }
        }
        assertThat(reached).containsExactlyInAnyOrder(ReplicaCase.values());
    }
}
