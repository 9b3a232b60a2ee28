package io.varve.serving.request.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.serving.request.PartitionFinder.TopicKey;
import io.varve.serving.request.data.AppendOrder.Place;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

final class AppendOrderTest {

    private static final Place PLACE = new Place(TopicKey.of("t"), 0);

    private final AppendOrder order = new AppendOrder();
    private final List<String> begun = new ArrayList<>();

    @Test
    void whatComesLaterWaitsUntilAllBeforeItIsHandedOver() {
        CompletableFuture<Void> first = queue("first");
        CompletableFuture<Void> second = queue("second");
        queue("third");
        assertThat(begun).containsExactly("first");
        first.complete(null);
        assertThat(begun).containsExactly("first", "second");
        second.complete(null);
        assertThat(begun).containsExactly("first", "second", "third");
    }

    @Test
    void whatFailsLetsTheNextOneGo() {
        CompletableFuture<Void> first = queue("first");
        queue("second");
        first.completeExceptionally(new IllegalStateException("the log is gone"));
        assertThat(begun).containsExactly("first", "second");
    }

    @Test
    void onePartitionDoesNotWaitForAnother() {
        queue("first");
        Place other = new Place(TopicKey.of("t"), 1);
        assertThat(order.isFree(other)).isTrue();
        order.queue(other, () -> begin("other", new CompletableFuture<>()));
        assertThat(begun).containsExactly("first", "other");
    }

    @Test
    void aPlaceIsFreeAgainWhenTheLastOneIsHandedOver() {
        assertThat(order.isFree(PLACE)).isTrue();
        CompletableFuture<Void> first = queue("first");
        CompletableFuture<Void> second = queue("second");
        first.complete(null);
        assertThat(order.isFree(PLACE)).isFalse();
        second.complete(null);
        assertThat(order.isFree(PLACE)).isTrue();
    }

    private CompletableFuture<Void> queue(String name) {
        CompletableFuture<Void> handedOver = new CompletableFuture<>();
        order.queue(PLACE, () -> begin(name, handedOver));
        return handedOver;
    }

    private CompletableFuture<Void> begin(String name, CompletableFuture<Void> handedOver) {
        begun.add(name);
        return handedOver;
    }
}
