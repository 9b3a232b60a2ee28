package io.varve;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import io.varve.planted.core.PlantedCore;
import io.varve.planted.server.PlantedServer;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;

/** That each rule can fail: against classes planted to break it. */
class VarveRulesTest {

    private final JavaClasses planted = new ClassFileImporter().importClasses(PlantedCore.class, PlantedServer.class);

    @Test
    void aCoreThatDoesMoreThanComputeIsFound() {
        finds(VarveRules.CORES_ARE_PURE)
                .hasMessageContaining("java.util.HashMap")
                .hasMessageContaining("java.nio.file.Path")
                .hasMessageContaining("java.lang.Thread")
                .hasMessageContaining("java.util.concurrent.CompletableFuture")
                .hasMessageContaining("java.time.Instant")
                .hasMessageContaining("io.varve.planted.server.PlantedServer")
                .hasMessageNotContaining("java.lang.String>");
        finds(VarveRules.CORES_KNOW_NO_NETTY).hasMessageContaining("io.netty.buffer.ByteBuf");
    }

    @Test
    void aCoreThatReadsHiddenInputIsFound() {
        finds(VarveRules.CORES_READ_NO_HIDDEN_INPUT)
                .hasMessageContaining("System.nanoTime")
                .hasMessageContaining("Set.of")
                .hasMessageContaining("Collectors.toSet");
    }

    @Test
    void aPackageCycleIsFound() {
        finds(VarveRules.PACKAGES_ARE_ACYCLIC).hasMessageContaining("Cycle detected");
    }

    @Test
    void aLibraryAwayFromHomeIsFound() {
        finds(VarveRules.home("event loops", java.util.List.of("io.netty.channel.."), "io.varve.protocol.rpc.."))
                .hasMessageContaining("io.netty.channel.EventLoop");
        assertThatCode(() -> VarveRules.home(
                                "event loops", java.util.List.of("io.netty.channel.."), "io.varve.planted.server..")
                        .check(planted))
                .doesNotThrowAnyException();
    }

    @Test
    void aStrayMainAndASleepAreFound() {
        finds(VarveRules.MAIN_IN_THE_COMMAND_LINE).hasMessageContaining("PlantedServer.main");
        finds(VarveRules.TESTS_DO_NOT_SLEEP).hasMessageContaining("TimeUnit.sleep");
    }

    @Test
    void theUseOfAnothersInternalsIsFound() {
        JavaClasses ofOthers = new ClassFileImporter().importClasses(VarveRulesTest.class, PlantedServer.class);
        assertThatThrownBy(() -> VarveRules.onlyPublished("planted", "api").check(ofOthers))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("VarveRulesTest");
        assertThatCode(() ->
                        VarveRules.onlyPublished("planted", "core", "server").check(ofOthers))
                .doesNotThrowAnyException();
    }

    private AbstractThrowableAssert<?, ? extends Throwable> finds(ArchRule rule) {
        return assertThatThrownBy(() -> rule.check(planted)).isInstanceOf(AssertionError.class);
    }
}
