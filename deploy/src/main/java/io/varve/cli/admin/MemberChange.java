package io.varve.cli.admin;

import io.varve.metadata.api.MetadataException;
import io.varve.metadata.api.MetadataException.Reason;
import io.varve.metadata.client.MetadataMember;
import io.varve.metadata.client.RemoteMetadataClient;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** A change of the metadata service's members, seen through: its outcome is looked up, not guessed (I-17). */
final class MemberChange {

    private static final long LOOK_MS = 200;

    private MemberChange() {}

    /** The members now. */
    static List<MetadataMember> members(RemoteMetadataClient client) {
        return MetadataOptions.await(client.status()).members();
    }

    /**
     * Asks for a change, again while it was certainly not done, and waits until the members are as wanted.
     *
     * @throws AdminFailure if they are not in time
     * @throws MetadataException INVALID if it is refused
     */
    static void await(
            RemoteMetadataClient client,
            Supplier<CompletableFuture<Void>> change,
            Predicate<List<MetadataMember>> wanted,
            int timeoutSeconds) {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(timeoutSeconds);
        String trouble = "nobody answered";
        while (System.nanoTime() - deadlineNs < 0) {
            try {
                MetadataOptions.await(change.get());
            } catch (MetadataException refused) {
                if (refused.reason() == Reason.INVALID) {
                    throw refused;
                }
                trouble = refused.getMessage();
            } catch (AdminFailure late) {
                trouble = late.getMessage();
            }
            try {
                if (wanted.test(members(client))) {
                    return;
                }
            } catch (MetadataException leaderless) {
                trouble = leaderless.getMessage();
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(LOOK_MS));
        }
        throw new AdminFailure("not within " + timeoutSeconds + " s: " + trouble
                + ". It may still come about: see varve metadata status");
    }

    /** Says who the members are. */
    static void print(RemoteMetadataClient client) {
        List<MetadataMember> members = members(client);
        System.out.println("The metadata service has " + members.size() + " members now: "
                + members.stream()
                        .map(member -> member.id() + "@" + member.host() + ":" + member.clientPort())
                        .collect(Collectors.joining(", "))
                + (members.size() % 2 == 0
                        ? ". It bears no more failures than " + (members.size() - 1) + " would."
                        : "."));
    }
}
