package io.varve.tiering.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.metadata.model.ManifestRef;
import io.varve.tiering.object.WrappedObjectStore;
import io.varve.tiering.testing.MemoryObjectStore;
import io.varve.tiering.testing.TestSegments;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** S19: a topic is walked through its manifest and its chain, and what doesn't agree is said; what retention takes meanwhile is not. */
class TopicVerifyTest {

    private final ManifestedTopic topic;
    private final MemoryObjectStore memory;
    private Runnable beforeNextGet = () -> {};
    private final WrappedObjectStore store;
    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private final List<Long> progress = new ArrayList<>();

    TopicVerifyTest() throws Exception {
        topic = new ManifestedTopic();
        memory = topic.memory;
        store = new WrappedObjectStore(memory) {
            @Override
            protected <T> CompletableFuture<T> around(
                    Verb verb, String key, long bytes, Supplier<CompletableFuture<T>> call) {
                if (verb == Verb.GET) {
                    Runnable first = beforeNextGet;
                    beforeNextGet = () -> {};
                    first.run();
                }
                return call.get();
            }
        };
    }

    @Test
    void whatAgreesIsCountedAndNothingIsSaid() {
        for (boolean deep : new boolean[] {false, true}) {
            TopicVerify.Result result = verify(deep);
            assertThat(text()).isEmpty();
            assertThat(result.segments()).isEqualTo(8);
            assertThat(result.inManifests()).isEqualTo(6);
            assertThat(result.offloaded()).isEqualTo(8);
            assertThat(result.objects())
                    .isEqualTo(memory.objects().keySet().stream()
                            .filter(key -> key.endsWith(".seg"))
                            .count());
            assertThat(result.problems()).isZero();
        }
        assertThat(progress).endsWith(8L);
    }

    @Test
    void anObjectThatIsGoneIsAProblemUnlessTheLogStartsBehindIt() {
        TopicVerify.Result before = verify(false);
        memory.delete(topic.key(0)).join();
        TopicVerify.Result result = verify(false);
        assertThat(result.problems()).isOne();
        assertThat(result.objects()).as("what isn't there isn't counted").isEqualTo(before.objects() - 1);
        assertThat(result.bytes()).isLessThan(before.bytes());
        assertThat(text()).contains("orders-7: MISSING " + topic.key(0));
        printed.reset();
        topic.state = topic.state(
                topic.state.chain().manifest().orElseThrow(),
                topic.segments.get(2).startOffset(),
                6);
        assertThat(verify(false).problems()).isZero();
        assertThat(text()).isEmpty();
    }

    @Test
    void damageInsideAnObjectIsFoundDeep() {
        byte[] damaged = memory.objects().get(topic.key(2)).clone();
        damaged[damaged.length / 3] ^= 1;
        memory.overwrite(topic.key(2), damaged);
        assertThat(verify(false).problems()).isZero();
        assertThat(verify(true).problems()).isOne();
        assertThat(text()).contains("CORRUPT " + topic.key(2));
    }

    @Test
    void aManifestThatIsGoneIsAProblemAndTheChainIsStillLookedAt() {
        memory.delete(topic.state.chain().manifest().orElseThrow().key()).join();
        TopicVerify.Result result = verify(false);
        assertThat(result.problems()).isOne();
        assertThat(result.segments()).isEqualTo(2);
        assertThat(text()).contains("orders-7: MISSING manifest");
    }

    @Test
    void aManifestThatIsReplacedMeanwhileIsGoneOnWith() {
        ManifestRef before = topic.state.chain().manifest().orElseThrow();
        beforeNextGet = () -> {
            ManifestRef after = topic.worker
                    .extend(TestSegments.PARTITION, Optional.of(before), 21, topic.segments.subList(6, 8))
                    .manifest()
                    .orElseThrow();
            memory.delete(before.key()).join();
            topic.state = topic.state(after, 0, 8);
        };
        TopicVerify.Result result = verify(false);
        assertThat(text()).isEmpty();
        assertThat(result.segments()).isEqualTo(8);
        assertThat(result.inManifests()).isEqualTo(8);
    }

    private TopicVerify.Result verify(boolean deep) {
        TopicVerify verify = new TopicVerify(
                store,
                TestSegments.CLUSTER,
                new PrintStream(printed, true, StandardCharsets.UTF_8),
                deep,
                (done, of) -> progress.add(done));
        return verify.verify(topic::view, ManifestedTopic.TOPIC);
    }

    private String text() {
        return printed.toString(StandardCharsets.UTF_8);
    }
}
