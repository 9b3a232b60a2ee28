package io.varve.bookie.offload;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.base.BookieId;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.testing.InMemoryMetadata;
import io.varve.metadata.testing.StepClock;
import io.varve.tiering.api.MetadataBackups;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BucketKeeperTest {

    private static final long INTERVAL_MS = 60_000;

    private final StepClock clock = new StepClock(1_000_000);
    private final InMemoryMetadata metadata = new InMemoryMetadata(clock, 1).withBookies(3);
    private final MetadataClient client = metadata.newClient();
    private final FewBackups backups = new FewBackups();
    private final List<Long> sweeps = new ArrayList<>();
    private boolean areUploadsRefused;
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    @Test
    void onlyTheLivingBookieWithTheLowestNumberTakesThem() {
        try (BucketKeeper first = keeper(1);
                BucketKeeper second = keeper(2)) {
            second.look();
            assertThat(backups.there).isEmpty();
            first.look();
            assertThat(backups.there).hasSize(1);
            metadata.expireBookie(new BookieId(1), 101);
            clock.advance(INTERVAL_MS);
            first.look();
            assertThat(backups.there).hasSize(1);
            second.look();
            assertThat(backups.there).hasSize(2);
        }
    }

    /** Its credentials may have run out, and nobody else's. */
    @Test
    void whoCannotReachTheStoreIsStoodInFor() {
        FewBackups unreachable = new FewBackups();
        unreachable.away = true;
        try (BucketKeeper first = keeper(1, unreachable);
                BucketKeeper second = keeper(2);
                BucketKeeper third = keeper(3)) {
            for (int interval = 0; interval < 7; interval++) {
                first.look();
                second.look();
                third.look();
                clock.advance(INTERVAL_MS);
            }
            assertThat(backups.there)
                    .extracting(MetadataBackups.Backup::takenMs)
                    .as("by the second, which waits for as long as the first may need")
                    .containsExactly(
                            1_000_000 + 2 * INTERVAL_MS, 1_000_000 + 4 * INTERVAL_MS, 1_000_000 + 6 * INTERVAL_MS);
        }
    }

    @Test
    void oneIsTakenInEachIntervalAlsoWhenAnotherBookieTookTheLast() {
        try (BucketKeeper keeper = keeper(1)) {
            keeper.look();
            clock.advance(INTERVAL_MS - 1);
            keeper.look();
            assertThat(backups.there).hasSize(1);
            clock.advance(1);
            keeper.look();
            assertThat(backups.there).hasSize(2);
        }
        try (BucketKeeper restarted = keeper(1)) {
            restarted.look();
            assertThat(backups.there).hasSize(2);
        }
    }

    @Test
    void theOldestGoAndTheOrderOfKeysHoldsThroughAClockThatGoesBack() {
        try (BucketKeeper keeper = keeper(1)) {
            for (int i = 0; i < 5; i++) {
                keeper.look();
                clock.advance(INTERVAL_MS);
            }
            assertThat(backups.there).hasSize(3);
            clock.advance(-10 * INTERVAL_MS);
            keeper.look();
            assertThat(backups.there)
                    .extracting(MetadataBackups.Backup::takenMs)
                    .isSorted()
                    .doesNotHaveDuplicates()
                    .hasSize(3);
        }
    }

    @Test
    void aStoreThatIsAwayIsTriedAgainAndCounted() {
        try (BucketKeeper keeper = keeper(1)) {
            backups.away = true;
            keeper.look();
            keeper.look();
            assertThat(registry.counter("varve_bookie_metadata_backup_failures").count())
                    .isEqualTo(2);
            backups.away = false;
            keeper.look();
            assertThat(backups.there).hasSize(1);
        }
    }

    /** C16: of what a killed bookie left behind nothing stays. */
    @Test
    void uploadsLeftBehindAreDroppedAtTheStartAndNowAndThen() {
        try (BucketKeeper keeper = keeper(1)) {
            keeper.look();
            keeper.look();
            assertThat(sweeps).containsExactly(BucketKeeper.STALE_MS);
            clock.advance(BucketKeeper.SWEEP_MS);
            keeper.look();
            assertThat(sweeps).hasSize(2);
        }
    }

    /** Who looks at the figures a day later must still see that nobody does it. */
    @Test
    void sinceWhenUploadsWereNotLookedThroughIsTold() {
        try (BucketKeeper keeper = keeper(1)) {
            areUploadsRefused = true;
            keeper.look();
            assertThat(sweptAgeMs()).isEqualTo(-1);
            areUploadsRefused = false;
            keeper.look();
            assertThat(sweptAgeMs()).isZero();
            areUploadsRefused = true;
            clock.advance(BucketKeeper.SWEEP_MS);
            keeper.look();
            assertThat(sweptAgeMs()).isEqualTo(BucketKeeper.SWEEP_MS);
        }
    }

    private double sweptAgeMs() {
        return registry.get("varve_bookie_uploads_swept_age_ms").gauge().value();
    }

    private BucketKeeper keeper(int bookie) {
        return keeper(bookie, backups);
    }

    private BucketKeeper keeper(int bookie, MetadataBackups into) {
        return new BucketKeeper(
                new BookieId(bookie),
                client,
                into,
                olderThanMs -> {
                    if (areUploadsRefused) {
                        throw new IOException("FORBIDDEN: on order");
                    }
                    sweeps.add(olderThanMs);
                    return 0;
                },
                INTERVAL_MS,
                3,
                clock,
                (where, fault) -> {
                    throw new AssertionError(where, fault);
                },
                registry);
    }

    /** In memory. */
    private static final class FewBackups implements MetadataBackups {
        private final List<Backup> there = new ArrayList<>();
        private boolean away;

        @Override
        public List<Backup> list() throws IOException {
            if (away) {
                throw new IOException("away");
            }
            return List.copyOf(there);
        }

        @Override
        public Backup save(long takenMs, long version, Body body) throws IOException {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            body.writeTo(out);
            Backup saved = new Backup("key-" + takenMs, takenMs, version, out.size());
            there.add(saved);
            return saved;
        }

        @Override
        public int prune(int keep) {
            int old = Math.max(0, there.size() - keep);
            there.subList(0, old).clear();
            return old;
        }

        @Override
        public void load(Backup backup, Path file) {
            throw new UnsupportedOperationException();
        }
    }
}
