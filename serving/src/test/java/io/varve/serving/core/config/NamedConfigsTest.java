package io.varve.serving.core.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class NamedConfigsTest {

    private final SortedMap<String, String> cluster = new TreeMap<>();

    @ParameterizedTest
    @ValueSource(strings = {"plain", "with space", "ü/ö:%", "a/b", "a"})
    void whatIsSetOfAResourceIsFoundUnderItsName(String name) {
        set(NamedConfigs.GROUP, name, "k", "1");
        set(NamedConfigs.GROUP, name + "x", "k", "2");
        set(NamedConfigs.CLIENT_METRICS, name, "k", "3");
        cluster.put("retention.ms", "4");

        assertThat(NamedConfigs.GROUP.of(name, cluster)).containsExactly(Map.entry("k", "1"));
        assertThat(NamedConfigs.GROUP.names(cluster)).containsExactly(name, name + "x");
        assertThat(NamedConfigs.CLIENT_METRICS.names(cluster)).containsExactly(name);
    }

    @Test
    void aNameThatBeginsAnotherIsNotTakenForIt() {
        set(NamedConfigs.GROUP, "group-1", "k", "1");
        assertThat(NamedConfigs.GROUP.of("group", cluster)).isEmpty();
    }

    private void set(NamedConfigs kind, String name, String key, String value) {
        cluster.put(kind.clusterKey(name, key), value);
    }
}
