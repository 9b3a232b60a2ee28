package io.varve.cli.demo;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * What a partition holds, boiled down to a count and a SHA-256 over every offset, key and value in order. Two ledgers are equal if and
 * only if they saw the same records at the same offsets in the same order. Not safe for use by several threads at once.
 */
public final class Ledger {

    private final List<Page> pages = new ArrayList<>();

    public Ledger(int partitions) {
        for (int partition = 0; partition < partitions; partition++) {
            pages.add(new Page());
        }
    }

    /** Enters the next record of a partition. Null is not the same as empty. */
    public void enter(int partition, long offset, byte[] key, byte[] value) {
        pages.get(partition).enter(offset, key, value);
    }

    /** How many partitions there are. */
    public int partitions() {
        return pages.size();
    }

    /** How many records of one partition were entered. */
    public long count(int partition) {
        return pages.get(partition).count;
    }

    /** How many records were entered in all. */
    public long count() {
        return pages.stream().mapToLong(page -> page.count).sum();
    }

    /** Keys and values entered in all, in bytes. */
    public long bytes() {
        return pages.stream().mapToLong(page -> page.bytes).sum();
    }

    /** The digest of what has been entered for a partition so far, in hexadecimal digits. */
    public String digest(int partition) {
        return pages.get(partition).digest();
    }

    /** One line for each partition that is not as in {@code expected}; none if all are the same. */
    public List<String> differencesFrom(Ledger expected) {
        List<String> differences = new ArrayList<>();
        for (int partition = 0; partition < expected.partitions(); partition++) {
            if (count(partition) != expected.count(partition)) {
                differences.add("partition " + partition + ": " + expected.count(partition) + " records acknowledged, "
                        + count(partition) + " read back");
            } else if (!digest(partition).equals(expected.digest(partition))) {
                differences.add("partition " + partition + ": its " + count(partition)
                        + " records differ from those acknowledged (" + digest(partition) + ", expected "
                        + expected.digest(partition) + ")");
            }
        }
        return differences;
    }

    private static final class Page {

        private final MessageDigest digest = sha256();
        private final ByteBuffer numbers = ByteBuffer.allocate(16);
        private long count;
        private long bytes;

        void enter(long offset, byte[] key, byte[] value) {
            numbers.clear().putLong(offset).putInt(lengthOf(key)).putInt(lengthOf(value));
            digest.update(numbers.array());
            update(key);
            update(value);
            count++;
        }

        private void update(byte[] part) {
            if (part != null) {
                digest.update(part);
                bytes += part.length;
            }
        }

        private static int lengthOf(byte[] part) {
            return part == null ? -1 : part.length;
        }

        String digest() {
            try {
                return HexFormat.of().formatHex(((MessageDigest) digest.clone()).digest());
            } catch (CloneNotSupportedException e) {
                throw new IllegalStateException("SHA-256 of this Java can't be copied", e);
            }
        }

        private static MessageDigest sha256() {
            try {
                return MessageDigest.getInstance("SHA-256");
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException("Every Java has SHA-256", e);
            }
        }
    }
}
