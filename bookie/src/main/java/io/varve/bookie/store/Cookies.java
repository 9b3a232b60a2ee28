package io.varve.bookie.store;

import io.varve.base.BookieId;
import io.varve.base.Randomness;
import io.varve.bookie.core.DirectoryRecovery;
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
     * Reads and, where they are new or know too little, writes the cookies of all directories.
     *
     * @throws io.varve.base.StartupException DIRECTORY_FOREIGN
     */
    static List<Found> check(List<Disk> disks, String clusterId, BookieId bookie, Randomness randomness)
            throws IOException {
        List<Cookie> read = new ArrayList<>();
        SortedSet<Long> known = new TreeSet<>();
        SortedSet<Long> present = new TreeSet<>();
        for (Disk disk : disks) {
            Cookie cookie = Cookie.read(disk, clusterId, bookie);
            read.add(cookie);
            if (cookie != null) {
                DirectoryRecovery.Twin twin = present.add(cookie.incarnation())
                        ? DirectoryRecovery.Twin.NONE
                        : DirectoryRecovery.Twin.SAME_INCARNATION;
                DirectoryRecovery.DirectoryCase is =
                        DirectoryRecovery.caseOf(DirectoryRecovery.Cookie.OURS, DirectoryRecovery.Content.FILES, twin);
                if (is.decision() == DirectoryRecovery.Decision.REFUSE) {
                    throw Cookie.copyOfAnother(disk);
                }
                known.addAll(cookie.siblings());
            }
        }
        SortedSet<Long> lost = new TreeSet<>(known);
        lost.removeAll(present);
        for (int at = 0; at < disks.size(); at++) {
            if (read.get(at) == null) {
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

    private static long newIncarnation(Randomness randomness, SortedSet<Long> known) {
        long incarnation;
        do {
            incarnation = randomness.nextLong();
        } while (incarnation == 0 || known.contains(incarnation));
        return incarnation;
    }
}
