package io.varve.tiering.object;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.tiering.object.ObjectStore.Verb;
import io.varve.tiering.object.StoreException.Kind;
import io.varve.tiering.testing.FaultyObjectStore;
import io.varve.tiering.testing.FaultyObjectStore.Fault;
import io.varve.tiering.testing.MemoryObjectStore;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The probe names what a store can't do, and leaves the bucket as it found it: nodes try a store whenever they start. */
class BucketProbeTest {

    private final MemoryObjectStore memory = new MemoryObjectStore();
    private final FaultyObjectStore store = new FaultyObjectStore(memory);

    @Test
    void nothingIsLeftBehindWhateverFails() throws Exception {
        for (Verb verb : new Verb[] {
            Verb.PUT,
            Verb.HEAD,
            Verb.GET,
            Verb.CREATE_UPLOAD,
            Verb.PUT_PART,
            Verb.COMPLETE_UPLOAD,
            Verb.LIST,
            Verb.BULK_DELETE
        }) {
            store.always(verb, new Fault.Fail(Kind.FORBIDDEN));
            BucketProbe.Verdict verdict =
                    new BucketProbe(store, "", verb.name()).run().get(10, TimeUnit.SECONDS);
            store.mend();
            assertThat(verdict.isSound()).as(verb.name()).isFalse();
            assertThat(verdict.kind()).isEqualTo(Kind.FORBIDDEN);
            assertThat(verdict.line()).contains("fails: ");
            assertThat(memory.objects()).as(verb.name()).isEmpty();
            assertThat(memory.uploads("", Optional.empty())
                            .get(10, TimeUnit.SECONDS)
                            .items())
                    .as(verb.name())
                    .isEmpty();
        }
    }

    /** What can't be told can't be tidied either: a person waits for the verdict. */
    @Test
    void nobodyWaitsForTheTidyingOfAStoreThatIsDead() throws Exception {
        for (Verb verb : new Verb[] {Verb.PUT, Verb.GET, Verb.PUT_PART}) {
            for (Kind kind : new Kind[] {Kind.UNREACHABLE, Kind.TIMED_OUT}) {
                store.always(verb, new Fault.Fail(kind));
                store.always(Verb.DELETE, new Fault.Hang()).always(Verb.ABORT_UPLOAD, new Fault.Hang());
                CompletableFuture<BucketProbe.Verdict> verdict = new BucketProbe(store, "", verb.name()).run();
                assertThat(verdict).as(verb + " " + kind).isDone();
                assertThat(verdict.join().kind()).isEqualTo(kind);
                store.mend();
            }
        }
    }

    /** S3 says 403 instead of 404 to keys that may not list: every deletion would be doubted for ever. */
    @Test
    void keysThatAreNotToldWhatIsMissingLackARight() throws Exception {
        store.once(Verb.HEAD, new Fault.None()).once(Verb.HEAD, new Fault.Fail(Kind.FORBIDDEN));
        BucketProbe.Verdict verdict = new BucketProbe(store, "", "1").run().get(10, TimeUnit.SECONDS);
        assertThat(verdict.isSound()).isFalse();
        assertThat(verdict.line()).contains("DELETE fails: ", "s3:ListBucket");
    }

    @Test
    void aStoreThatCanDoAllIsSoundAndEmptyAfterwards() throws Exception {
        BucketProbe.Verdict verdict = new BucketProbe(store, "", "1").run().get(10, TimeUnit.SECONDS);
        assertThat(verdict.isSound()).as(verdict.line()).isTrue();
        assertThat(memory.objects()).isEmpty();
    }
}
