package io.varve.serving.core.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.sim.SimRandomness;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class LongMapTest {

    @Test
    void itHoldsWhatATreeMapHoldsWhateverIsPutAndRemoved() {
        for (long seed = 1; seed <= 50; seed++) {
            SimRandomness random = new SimRandomness(seed);
            LongMap<String> map = new LongMap<>();
            TreeMap<Long, String> oracle = new TreeMap<>();
            for (int step = 0; step < 2_000; step++) {
                // Few keys, many of which share a home: chains grow, and gaps are made in their middles.
                long key = random.nextInt(60) * 64L - 900;
                if (random.percent(60)) {
                    map.put(key, "v" + step);
                    oracle.put(key, "v" + step);
                } else {
                    map.remove(key);
                    oracle.remove(key);
                }
                assertThat(map.size()).isEqualTo(oracle.size());
                long asked = random.nextInt(60) * 64L - 900;
                assertThat(map.get(asked)).isEqualTo(oracle.get(asked));
            }
            List<String> all = new ArrayList<>();
            map.forEach(all::add);
            assertThat(all).isEqualTo(new ArrayList<>(oracle.values()));
        }
    }

    @Test
    void whatMeetsAConditionGoes() {
        LongMap<Long> map = new LongMap<>();
        for (long key = 0; key < 100; key++) {
            map.put(key, key);
        }
        map.removeIf(value -> value % 3 != 0);
        List<Long> left = new ArrayList<>();
        map.forEach(left::add);
        assertThat(left).hasSize(34).allMatch(value -> value % 3 == 0).isSorted();
    }
}
