package io.varve.serving.core.admission;

import io.varve.serving.core.config.EscapedName;
import java.util.Optional;

/**
 * Whom a quota is for: a user, a client id, or both together; or the address that connections come from. Each is absent, the default for all
 * that have none of their own, or a name.
 *
 * @param user who
 * @param clientId by which client
 * @param ip from where; never together with the others
 */
public record QuotaEntity(Optional<String> user, Optional<String> clientId, Optional<String> ip)
        implements Comparable<QuotaEntity> {

    /** The name that stands for all that have none of their own. No user, no client id and no address is empty here. */
    public static final String DEFAULT = "";

    private static final char ABSENT = '-';
    private static final char PRESENT = '+';
    private static final String IP = "ip:";

    public QuotaEntity {
        if (ip.isPresent() == (user.isPresent() || clientId.isPresent())) {
            throw new IllegalArgumentException("A quota is for a user, a client id, or both, or else for an address");
        }
    }

    /** A user, a client id, or both. */
    public QuotaEntity(Optional<String> user, Optional<String> clientId) {
        this(user, clientId, Optional.empty());
    }

    /** An address. */
    public static QuotaEntity ofAddress(String address) {
        return new QuotaEntity(Optional.empty(), Optional.empty(), Optional.of(address));
    }

    /** As a part of a configuration key: letters, digits, and what can't be mistaken for a separator. */
    public String encoded() {
        return ip.isPresent() ? IP + encoded(ip) : encoded(user) + ':' + encoded(clientId);
    }

    /**
     * Reads what {@link #encoded()} writes.
     *
     * @throws IllegalArgumentException if {@code text} is nothing of the kind
     */
    public static QuotaEntity decode(String text) {
        if (text.startsWith(IP)) {
            return new QuotaEntity(Optional.empty(), Optional.empty(), decodePart(text.substring(IP.length())));
        }
        int colon = text.indexOf(':');
        if (colon < 1) {
            throw new IllegalArgumentException("Not a quota's entity: " + text);
        }
        return new QuotaEntity(decodePart(text.substring(0, colon)), decodePart(text.substring(colon + 1)));
    }

    private static String encoded(Optional<String> part) {
        return part.map(name -> PRESENT + EscapedName.encode(name)).orElse(String.valueOf(ABSENT));
    }

    private static Optional<String> decodePart(String text) {
        if (text.equals(String.valueOf(ABSENT))) {
            return Optional.empty();
        }
        if (text.isEmpty() || text.charAt(0) != PRESENT) {
            throw new IllegalArgumentException("Not a part of a quota's entity: " + text);
        }
        return Optional.of(EscapedName.decode(text.substring(1)));
    }

    @Override
    public int compareTo(QuotaEntity other) {
        return encoded().compareTo(other.encoded());
    }
}
