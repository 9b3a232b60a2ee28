package io.varve.bookie.store;

import io.varve.base.BookieId;
import io.varve.base.StartupException;
import io.varve.base.StartupException.Reason;
import io.varve.bookie.core.DirectoryRecovery;
import io.varve.bookie.core.DirectoryRecovery.Content;
import io.varve.bookie.disk.Disk;
import io.varve.bookie.disk.DiskFile;
import io.varve.bookie.journal.JournalFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.zip.CRC32C;

/**
 * What makes a directory this bookie's (I-13): a small text file that a person can read.
 *
 * <pre>
 *  varve-bookie-directory 1
 *  cluster=…
 *  bookie=3
 *  incarnation=0123456789abcdef
 *  siblings=0123456789abcdef,…
 *  crc32c=01234567
 * </pre>
 *
 * The incarnation is random, and never 0. The siblings are the incarnations of all directories that this bookie ever had: that is how the ones that are left
 * know that one was lost, and that this bookie can't vouch any more for what it doesn't find (I-5).
 *
 * @param siblings this directory's own incarnation included, in order
 */
record Cookie(String clusterId, BookieId bookie, long incarnation, List<Long> siblings) {

    static final String NAME = "COOKIE";

    private static final String NEW_NAME = "COOKIE.new";
    /** What is there when making the directory ready was interrupted. */
    private static final List<String> LEFT_BY_FORMAT =
            List.of("LOCK", NEW_NAME, Snapshot.name(0), Snapshot.name(0) + ".new");

    private static final String TITLE = "varve-bookie-directory ";
    private static final String FORMAT = "1";

    Cookie {
        siblings = List.copyOf(new TreeSet<>(siblings));
    }

    /** The same with more siblings. */
    Cookie withSiblings(Iterable<Long> more) {
        List<Long> all = new ArrayList<>(siblings);
        more.forEach(all::add);
        return new Cookie(clusterId, bookie, incarnation, all);
    }

    /**
     * What a directory says of whose it is.
     *
     * @param cookie {@code null} if there is none that can be read
     * @param remark why it can't be read; or the name of a file that is there without one
     */
    record Seen(DirectoryRecovery.Cookie owner, Content content, Cookie cookie, String remark) {}

    /** Looks at a directory. */
    static Seen look(Disk disk, String clusterId, BookieId bookie) throws IOException {
        List<String> files = new ArrayList<>(disk.list(""));
        files.removeAll(LEFT_BY_FORMAT);
        // A young store has nothing else at the top than what an interrupted formatting leaves.
        files.addAll(filesIn(disk, JournalFiles.DIRECTORY));
        files.addAll(filesIn(disk, SegmentFiles.DIRECTORY));
        Content content = files.isEmpty() ? Content.EMPTY : Content.FILES;
        if (!disk.exists(NAME)) {
            return new Seen(DirectoryRecovery.Cookie.NONE, content, null, files.isEmpty() ? "" : files.get(0));
        }
        try {
            Cookie cookie = parse(readText(disk));
            return new Seen(cookie.ownerIs(clusterId, bookie), content, cookie, "");
        } catch (Unreadable trouble) {
            return new Seen(DirectoryRecovery.Cookie.UNREADABLE, content, null, trouble.getMessage());
        }
    }

    private static List<String> filesIn(Disk disk, String directory) throws IOException {
        try {
            return disk.list(directory).stream()
                    .map(name -> directory + "/" + name)
                    .toList();
        } catch (NoSuchFileException missing) {
            return List.of();
        }
    }

    private DirectoryRecovery.Cookie ownerIs(String wantedCluster, BookieId wantedBookie) {
        if (!clusterId.equals(wantedCluster)) {
            return DirectoryRecovery.Cookie.OTHER_CLUSTER;
        }
        return bookie.equals(wantedBookie) ? DirectoryRecovery.Cookie.OURS : DirectoryRecovery.Cookie.OTHER_BOOKIE;
    }

    /**
     * Reads a directory's cookie, whosever it is.
     *
     * @throws StartupException DIRECTORY_FOREIGN if there is none, or it can't be read
     */
    static Cookie readAny(Disk disk) throws IOException {
        if (!disk.exists(NAME)) {
            throw foreign(disk, "there is no cookie in it, so no bookie's data");
        }
        try {
            return parse(readText(disk));
        } catch (Unreadable trouble) {
            throw foreign(disk, trouble.getMessage());
        }
    }

    /** Writes the cookie in place of the one there is: at any moment one of them is whole. */
    void write(Disk disk) throws IOException {
        StringBuilder text = new StringBuilder(TITLE).append(FORMAT).append('\n');
        text.append("cluster=").append(clusterId).append('\n');
        text.append("bookie=").append(bookie).append('\n');
        text.append("incarnation=").append(hex(incarnation)).append('\n');
        text.append("siblings=")
                .append(String.join(",", siblings.stream().map(Cookie::hex).toList()))
                .append('\n');
        String signed = text.toString();
        byte[] bytes =
                (signed + "crc32c=" + String.format("%08x", checksum(signed)) + "\n").getBytes(StandardCharsets.UTF_8);
        try (DiskFile file = disk.create(NEW_NAME)) {
            file.write(ByteBuffer.wrap(bytes), 0);
            file.force();
        }
        disk.rename(NEW_NAME, NAME);
        disk.forceDirectory("");
    }

    private static String readText(Disk disk) throws IOException {
        try (DiskFile file = disk.open(NAME)) {
            ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(file.size(), 64 * 1024));
            file.read(bytes, 0);
            return new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
        }
    }

    /** There is a cookie, and nobody can tell whose. */
    private static final class Unreadable extends Exception {
        private static final long serialVersionUID = 1L;

        Unreadable(String why) {
            super(why);
        }
    }

    private static Cookie parse(String text) throws Unreadable {
        if (!text.startsWith(TITLE)) {
            throw new Unreadable("its cookie is not one of Varve's");
        }
        String version = text.substring(TITLE.length(), Math.max(TITLE.length(), text.indexOf('\n')));
        if (!version.equals(FORMAT)) {
            throw new Unreadable("its format is version " + version + ", this release reads " + FORMAT);
        }
        int signedEnd = text.lastIndexOf("crc32c=");
        Map<String, String> values = new LinkedHashMap<>();
        for (String line : text.split("\n")) {
            int equals = line.indexOf('=');
            if (equals > 0) {
                values.put(line.substring(0, equals), line.substring(equals + 1));
            }
        }
        try {
            if (signedEnd < 0
                    || Integer.parseUnsignedInt(values.get("crc32c"), 16) != checksum(text.substring(0, signedEnd))) {
                throw new Unreadable("its cookie is damaged (checksum)");
            }
            List<Long> siblings = new ArrayList<>();
            for (String sibling : values.get("siblings").split(",")) {
                siblings.add(Long.parseUnsignedLong(sibling, 16));
            }
            return new Cookie(
                    values.get("cluster"),
                    new BookieId(Integer.parseInt(values.get("bookie"))),
                    Long.parseUnsignedLong(values.get("incarnation"), 16),
                    siblings);
        } catch (IllegalArgumentException | NullPointerException unreadable) {
            throw new Unreadable("its cookie can't be read");
        }
    }

    /** That a directory is not usable here. */
    static StartupException foreign(Disk disk, String why) {
        return new StartupException(
                Reason.DIRECTORY_FOREIGN, "The data directory " + disk.name() + " is not usable here: " + why + ".");
    }

    private static int checksum(String text) {
        CRC32C crc = new CRC32C();
        crc.update(text.getBytes(StandardCharsets.UTF_8));
        return (int) crc.getValue();
    }

    private static String hex(long value) {
        return String.format("%016x", value);
    }
}
