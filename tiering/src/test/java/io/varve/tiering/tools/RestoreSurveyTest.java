package io.varve.tiering.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.metadata.model.ObjectKeys;
import io.varve.metadata.model.ObjectRef;
import io.varve.tiering.object.ObjectStore.Verb;
import io.varve.tiering.testing.FaultyObjectStore;
import io.varve.tiering.testing.TestSegments;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Of what manifests name only the keys are looked at; what no manifest that can be read names is asked what it holds. */
class RestoreSurveyTest {

    private final ManifestedTopic topic = new ManifestedTopic();
    private final FaultyObjectStore store = new FaultyObjectStore(topic.memory);
    private final List<String> lost = new ArrayList<>();
    private final RestoreSurvey survey = new RestoreSurvey(store, TestSegments.CLUSTER, lost);

    RestoreSurveyTest() throws Exception {}

    private void look() {
        survey.look(Optional.of(topic.view()), seen -> {});
    }

    private List<String> asked() {
        return survey.objects().getOrDefault(TestSegments.PARTITION, List.of()).stream()
                .map(held -> held.ref().key())
                .toList();
    }

    private ObjectRef object(int segment) {
        return topic.segments.get(segment).object().orElseThrow();
    }

    @Test
    void whatAManifestNamesIsNotRead() {
        look();
        assertThat(survey.manifestsFrom()).containsEntry(TestSegments.PARTITION, 0L);
        assertThat(asked()).containsExactly(topic.key(6));
        assertThat(survey.count()).isEqualTo(4);
        assertThat(store.calls(Verb.GET)).as("the root, a leaf, a tail").isEqualTo(3);
        assertThat(lost).isEmpty();
    }

    @Test
    void fromBehindTheLastObjectThatIsGoneOnAllIsThere() {
        topic.memory.delete(topic.key(2)).join();
        look();
        assertThat(survey.manifestsFrom())
                .containsEntry(TestSegments.PARTITION, object(2).endOffset());
    }

    /** What is left of a merged object in the chain, or in place of a rewrite that isn't uploaded, begins in what a manifest covers. */
    @Test
    void whatBeginsInAManifestAndIsNotNamedByItIsAsked_I11() {
        String other = ObjectKeys.segment(
                TestSegments.CLUSTER, TestSegments.PARTITION, object(2).startOffset(), 99);
        byte[] bytes = topic.memory.objects().get(topic.key(4));
        topic.memory.put(other, ByteBuffer.wrap(bytes)).join();
        look();
        assertThat(survey.manifestsFrom()).containsEntry(TestSegments.PARTITION, 0L);
        assertThat(asked()).containsExactly(other, topic.key(6));
        assertThat(survey.count()).isEqualTo(5);
    }

    @Test
    void objectsOfAManifestThatCannotBeReadAreAskedThemselves() {
        String leaf = topic.memory.objects().keySet().stream()
                .filter(key -> key.endsWith(".leaf"))
                .findFirst()
                .orElseThrow();
        topic.memory.delete(leaf).join();
        look();
        assertThat(survey.manifestsFrom()).isEmpty();
        assertThat(asked()).containsExactlyInAnyOrder(topic.key(0), topic.key(2), topic.key(4), topic.key(6));
        assertThat(survey.count()).isEqualTo(4);
        assertThat(lost).singleElement().asString().contains("manifest of", "its objects are asked instead");
    }

    @Test
    void whatNoBackupKnowsIsAskedAndWhatIsDamagedIsTold() {
        topic.memory.overwrite(topic.key(4), new byte[100]);
        survey.look(Optional.empty(), seen -> {});
        assertThat(asked()).containsExactlyInAnyOrder(topic.key(0), topic.key(2), topic.key(6));
        assertThat(survey.count()).isEqualTo(4);
        assertThat(lost).singleElement().asString().contains(topic.key(4));
    }
}
