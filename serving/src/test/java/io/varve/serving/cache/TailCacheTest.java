package io.varve.serving.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TailCacheTest {

    private final TailBudget budget = new TailBudget(1_000);
    private final List<ByteBuf> made = new ArrayList<>();

    private void add(TailCache cache, long first, long last, int bytes) {
        ByteBuf payload = Unpooled.buffer(bytes).writeZero(bytes);
        cache.add(first, last, payload);
        payload.release();
        made.add(payload);
    }

    @Test
    void overTheBudgetTheOldestEntryGoesWhoseverItIs() {
        TailCache one = new TailCache(budget);
        TailCache other = new TailCache(budget);
        add(one, 0, 4, 400);
        add(other, 0, 0, 400);
        add(other, 1, 1, 400);
        assertThat(one.covers(0)).isFalse();
        assertThat(made.get(0).refCnt()).isZero();
        assertThat(other.covers(1)).isTrue();
        add(one, 5, 9, 500);
        assertThat(other.covers(0)).isFalse();
        assertThat(one.covers(7)).isTrue();
        assertThat(budget.bytes()).isEqualTo(900);
    }

    @Test
    void aReadBeginsWithTheEntryThatHoldsTheOffsetAndEndsBelowTheBound() {
        TailCache cache = new TailCache(budget);
        for (int i = 0; i < 40; i++) {
            add(cache, i * 3L, i * 3L + 2, 10);
        }
        List<ByteBuf> found = new ArrayList<>();
        cache.read(10, 10_000, true, 19, found);
        assertThat(found).hasSize(3);
        found.forEach(ByteBuf::release);
        found.clear();
        cache.read(0, 5, true, 100, found);
        assertThat(found).as("the first comes in any case").hasSize(1);
        found.forEach(ByteBuf::release);
        found.clear();
        cache.read(0, 5, false, 100, found);
        assertThat(found).isEmpty();
        cache.clear();
        assertThat(made).allMatch(payload -> payload.refCnt() == 0);
        assertThat(budget.bytes()).isZero();
    }

    @Test
    void whatDoesNotFollowOnMakesTheCacheBeginAnew() {
        TailCache cache = new TailCache(budget);
        add(cache, 0, 9, 100);
        add(cache, 20, 29, 100);
        assertThat(cache.covers(5)).isFalse();
        assertThat(cache.covers(15)).isFalse();
        assertThat(cache.covers(20)).isTrue();
        assertThat(budget.bytes()).isEqualTo(100);
    }

    @Test
    void aReadersReferenceOutlivesTheCache() {
        TailCache cache = new TailCache(budget);
        add(cache, 0, 0, 100);
        List<ByteBuf> found = new ArrayList<>();
        cache.read(0, 1_000, true, 1, found);
        cache.clear();
        assertThat(found.get(0).refCnt()).isPositive();
        found.get(0).release();
        assertThat(made.get(0).refCnt()).isZero();
    }
}
