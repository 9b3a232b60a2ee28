package io.varve.bookie.store;

import io.varve.base.BookieId;
import io.varve.base.InvariantViolation;
import io.varve.base.Randomness;
import io.varve.bookie.core.DirectoryRecovery;
import io.varve.bookie.core.DirectoryRecovery.Decision;
import io.varve.bookie.core.DirectoryRecovery.DirectoryCase;
import io.varve.bookie.core.DirectoryRecovery.Siblings;
import io.varve.bookie.core.DirectoryRecovery.Snapshots;
import io.varve.bookie.core.DirectoryRecovery.Twin;
import io.varve.bookie.core.RecoveryRule;
import io.varve.bookie.disk.Disk;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks that a bookie's directories are its own and belong together, gives new ones their identity, and notices lost ones (I-5, I-13). */
final class Cookies {

    private static final Logger LOG = LoggerFactory.getLogger(Cookies.class);

    private Cookies() {}

    /**
     * A directory with its cookie.
     *
     * @param lost incarnations that this bookie had once, and has no more
     */
    record Found(Disk disk, Cookie cookie, SortedSet<Long> lost) {}

    /**
     * Reads and, where they are new or know too little, writes the cookies of all directories. Nothing is written before all of them are known to be usable.
     *
     * @throws io.varve.base.StartupException DIRECTORY_FOREIGN
     */
    static List<Found> check(
            List<Disk> disks, String clusterId, BookieId bookie, Randomness randomness, RecoveryRule rule)
            throws IOException {
        List<Cookie.Seen> seen = new ArrayList<>();
        SortedSet<Long> known = new TreeSet<>();
        SortedSet<Long> present = new TreeSet<>();
        List<Twin> twins = new ArrayList<>();
        for (Disk disk : disks) {
            Cookie.Seen one = Cookie.look(disk, clusterId, bookie);
            seen.add(one);
            boolean ours = one.owner() == DirectoryRecovery.Cookie.OURS;
            twins.add(ours && !present.add(one.cookie().incarnation()) ? Twin.SAME_INCARNATION : Twin.NONE);
            if (ours) {
                known.addAll(one.cookie().siblings());
            }
        }
        SortedSet<Long> lost = new TreeSet<>(known);
        lost.removeAll(present);
        List<DirectoryCase> cases = new ArrayList<>();
        for (int at = 0; at < disks.size(); at++) {
            Cookie.Seen one = seen.get(at);
            // Its snapshots are read when it is loaded.
            DirectoryCase is = rule.directoryCase(
                    one.owner(),
                    one.content(),
                    twins.get(at),
                    lost.isEmpty() ? Siblings.COMPLETE : Siblings.INCOMPLETE,
                    Snapshots.READABLE);
            if (is.decision() == Decision.REFUSE) {
                throw Cookie.foreign(disks.get(at), why(is, one, clusterId, bookie));
            }
            cases.add(is);
        }
        List<Cookie> read = new ArrayList<>();
        for (int at = 0; at < disks.size(); at++) {
            read.add(seen.get(at).cookie());
            if (cases.get(at).decision() == Decision.FORMAT) {
                long incarnation = newIncarnation(randomness, known);
                known.add(incarnation);
                read.set(at, new Cookie(clusterId, bookie, incarnation, List.of(incarnation)));
                DirectoryStore.format(disks.get(at), read.get(at));
                LOG.info(
                        "directory=new directory={} incarnation={}",
                        disks.get(at).name(),
                        Long.toHexString(incarnation));
            }
        }
        if (!lost.isEmpty()) {
            LOG.warn(
                    "directories=lost incarnations={}",
                    lost.stream().map(Long::toHexString).toList());
        }
        List<Found> found = new ArrayList<>();
        for (int at = 0; at < disks.size(); at++) {
            Cookie cookie = read.get(at).withSiblings(known);
            if (!cookie.equals(read.get(at))) {
                cookie.write(disks.get(at));
            }
            found.add(new Found(disks.get(at), cookie, lost));
        }
        return found;
    }

    private static String why(DirectoryCase is, Cookie.Seen seen, String clusterId, BookieId bookie) {
        return switch (is) {
            case COOKIE_MISSING -> "it holds files (" + seen.remark() + ") but no cookie. Name an empty directory";
            case COOKIE_UNREADABLE -> seen.remark();
            case CLUSTER_DIFFERS -> "it belongs to cluster " + seen.cookie().clusterId() + ", not " + clusterId;
            case BOOKIE_DIFFERS -> "it belongs to bookie " + seen.cookie().bookie() + ", not " + bookie;
            case COPY -> "it is a copy of another directory of this bookie";
            case NEW, OURS, SIBLING_LOST, SNAPSHOT_LOST ->
                throw new InvariantViolation("a directory in case " + is + " is not refused for its cookie");
        };
    }

    private static long newIncarnation(Randomness randomness, SortedSet<Long> known) {
        long incarnation;
        do {
            incarnation = randomness.nextLong();
        } while (incarnation == 0 || known.contains(incarnation));
        return incarnation;
    }
}
