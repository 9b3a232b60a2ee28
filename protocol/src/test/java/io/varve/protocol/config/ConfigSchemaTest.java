package io.varve.protocol.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.StartupException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigSchemaTest {

    private static final ConfigKey<Integer> ID = ConfigKey.integer("bookie.id", "Its number.", 0, 1_000);
    private static final ConfigKey<List<Path>> DIRS = ConfigKey.paths("bookie.data.dirs", "Where the data goes.");
    private static final ConfigKey<Long> BYTES = ConfigKey.number(
                    "journal.file.bytes", "Size of a file.", 4096, Long.MAX_VALUE)
            .withDefault("67108864");
    private static final ConfigKey<String> RACK =
            ConfigKey.text("bookie.rack", "Its rack.").optional();
    private static final ConfigKey<Color> COLOR =
            ConfigKey.choice("paint", "Its color.", Color.class).withDefault("light-red");
    private static final ConfigKey<List<NodeAddress>> SERVERS =
            ConfigKey.nodes("metadata.servers", "The metadata service.").withDefault("1@localhost:7100");
    private static final ConfigSchema SCHEMA = ConfigSchema.of("bookie")
            .heading("Who it is")
            .keys(ID, RACK)
            .heading("Disks")
            .keys(DIRS, BYTES, COLOR, SERVERS)
            .build();

    private enum Color {
        LIGHT_RED,
        GREEN
    }

    @Test
    void aFileIsReadAndDefaultsFillTheRest(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("bookie.properties");
        Files.writeString(file, "bookie.id = 3\n# comment\nbookie.data.dirs=/a, /b\npaint=GREEN\n");

        Config config = ConfigFiles.load(SCHEMA, file, Map.of(), Map.of());

        assertThat(config.get(ID)).isEqualTo(3);
        assertThat(config.get(DIRS)).containsExactly(Path.of("/a"), Path.of("/b"));
        assertThat(config.get(BYTES)).isEqualTo(64L << 20);
        assertThat(config.get(COLOR)).isEqualTo(Color.GREEN);
        assertThat(config.find(RACK)).isEmpty();
        assertThat(config.get(SERVERS)).containsExactly(new NodeAddress(1, "localhost", 7100));
        assertThat(config.isSet(BYTES)).isFalse();
    }

    @Test
    void theEnvironmentOverridesTheFileAndTheCommandLineBoth() {
        Map<String, String> file = Map.of("bookie.id", "1", "bookie.data.dirs", "/a", "bookie.rack", "file");
        Config config = SCHEMA.check(
                "f",
                file,
                Map.of("VARVE_BOOKIE_ID", "2", "VARVE_BOOKIE_RACK", "env", "VARVE_BROKER_SERVICE_HOST", "10.0.0.1"),
                Map.of("bookie.rack", "line"));
        assertThat(config.get(ID)).isEqualTo(2);
        assertThat(config.get(RACK)).isEqualTo("line");
        assertThat(config.whence(ID)).isEqualTo("the environment (VARVE_BOOKIE_ID)");
        assertThat(config.whence(RACK)).isEqualTo("the command line");
        assertThat(config.whence(BYTES)).isEqualTo("the default");
    }

    @Test
    void anUnknownKeyIsRefusedWithTheNearestRightOne() {
        refuses(() -> SCHEMA.check("b.properties", Map.of("bookie.idd", "1"), Map.of(), Map.of()))
                .hasMessage("Unknown key bookie.idd in b.properties: did you mean bookie.id?");
        refuses(() -> SCHEMA.check(
                        "b.properties", Map.of("bookie.data.dirs", "/a", "bokie.rcak", "1"), Map.of(), Map.of()))
                .hasMessageContaining("did you mean bookie.rack?");
        refuses(() -> SCHEMA.check("b.properties", Map.of("quite.another.thing", "1"), Map.of(), Map.of()))
                .hasMessage("Unknown key quite.another.thing in b.properties: see the sample file of this role");
    }

    @Test
    void aWrongValueIsRefusedWithWhatTheKeyTakes() {
        refuses(() -> SCHEMA.check("b", Map.of("bookie.id", "7x"), Map.of(), Map.of()))
                .hasMessage("Wrong value of bookie.id in b: \"7x\" is no whole number; "
                        + "it takes a whole number from 0 to 1000");
        refuses(() -> SCHEMA.check("b", Map.of("journal.file.bytes", "1"), Map.of(), Map.of()))
                .hasMessageContaining("it takes a whole number from 4096");
        refuses(() -> SCHEMA.check("b", Map.of("paint", "blue"), Map.of(), Map.of()))
                .hasMessageContaining("is none of light-red, green");
        refuses(() -> SCHEMA.check("b", Map.of("metadata.servers", "localhost:1"), Map.of(), Map.of()))
                .hasMessageContaining("no id@host:port");
        refuses(() -> SCHEMA.check("b", Map.of("metadata.servers", "1@a:1,1@b:2"), Map.of(), Map.of()))
                .hasMessageContaining("names node 1 twice");
    }

    @Test
    void aMissingKeyIsRefusedWithItsMeaning() {
        refuses(() -> SCHEMA.check("b", Map.of("bookie.id", "7"), Map.of(), Map.of()))
                .hasMessage("Missing key bookie.data.dirs in b: Where the data goes.");
    }

    @Test
    void aKeyThatStandsTwiceIsRefused() {
        refuses(() -> ConfigFiles.parse("b", "a=1\na=2\n")).hasMessage("The key a stands twice in b");
    }

    @Test
    void aMissingFileIsRefused(@TempDir Path directory) {
        refuses(() -> ConfigFiles.load(SCHEMA, directory.resolve("none"), Map.of(), Map.of()))
                .hasMessageContaining("There is no configuration file");
    }

    @Test
    void theSampleIsAcceptedOnceTheRequiredKeysAreFilledIn() {
        String sample = SCHEMA.sample();
        assertThat(sample).contains("\nbookie.id=\n", "\n#journal.file.bytes=67108864\n", "# ---- Disks ----");
        Map<String, String> filled = ConfigFiles.parse(
                "sample", sample.replace("bookie.id=", "bookie.id=1").replace("dirs=", "dirs=/a"));
        assertThat(SCHEMA.check("sample", filled, Map.of(), Map.of()).get(ID)).isEqualTo(1);
        String allSet = sample.replaceAll("(?m)^#([a-z.]+=.)", "$1")
                .replace("bookie.id=", "bookie.id=1")
                .replace("dirs=", "dirs=/a");
        assertThat(SCHEMA.check("sample", ConfigFiles.parse("sample", allSet), Map.of(), Map.of())
                        .get(BYTES))
                .isEqualTo(64L << 20);
    }

    @Test
    void aDefaultThatItsOwnKeyRefusesIsAFaultOfTheSchema() {
        assertThatThrownBy(() -> ConfigKey.integer("x", "x", 1, 2).withDefault("3"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void addressesWithBracketsAreRead() {
        assertThat(HostPort.parse("[::1]:9092"))
                .isEqualTo(new HostPort("::1", 9092))
                .hasToString("[::1]:9092");
        assertThat(NodeAddress.parse("3@h:1")).hasToString("3@h:1");
        assertThatThrownBy(() -> HostPort.parse("::1:9092")).hasMessageContaining("brackets");
        assertThatThrownBy(() -> HostPort.parse("h:70000")).isInstanceOf(ConfigKey.WrongValue.class);
    }

    @Test
    void editDistanceCountsSlipsOfThePen() {
        assertThat(EditDistance.between("abc", "abc")).isZero();
        assertThat(EditDistance.between("abc", "acb")).isOne();
        assertThat(EditDistance.between("", "abc")).isEqualTo(3);
        assertThat(EditDistance.between("kitten", "sitting")).isEqualTo(3);
    }

    private static org.assertj.core.api.AbstractThrowableAssert<?, ? extends Throwable> refuses(ThrowingCallable call) {
        return assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        StartupException.class,
                        e -> assertThat(e.reason()).isEqualTo(StartupException.Reason.BAD_CONFIG));
    }

    @Test
    void aSchemaTakesMoreKeysAtItsEnd() {
        ConfigKey<Long> more =
                ConfigKey.number("drain.timeout.ms", "How long.", 0, 10).withDefault("5");
        ConfigSchema larger = SCHEMA.with("The process", more);

        Config config = larger.check(
                "test",
                Map.of("bookie.id", "1", "bookie.data.dirs", "/a", "drain.timeout.ms", "7"),
                Map.of(),
                Map.of());

        assertThat(config.get(more)).isEqualTo(7);
        assertThat(larger.sample()).startsWith(SCHEMA.sample()).contains("# ---- The process ----");
        assertThat(SCHEMA.keys()).doesNotContain(more);
    }
}
