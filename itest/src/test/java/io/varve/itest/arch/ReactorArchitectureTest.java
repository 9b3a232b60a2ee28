package io.varve.itest.arch;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import io.varve.VarveRules;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** All structural rules, over the classes of all modules at once. */
class ReactorArchitectureTest {

    private static JavaClasses reactor;

    @BeforeAll
    static void scan() {
        reactor = VarveRules.mainClasses("io.varve");
    }

    @Test
    void everyModuleIsSeen() {
        for (String module : List.of("base", "protocol", "metadata", "tiering", "bookie", "serving", "cli")) {
            assertThat(reactor.stream().filter(c -> c.getPackageName().startsWith("io.varve." + module)))
                    .as(module)
                    .isNotEmpty();
        }
    }

    @Test
    void otherModulesNameOnlyWhatAModulePublishes() {
        VarveRules.publishedPackagesOnly().forEach(rule -> rule.check(reactor));
        VarveRules.commandLineSeesServersOnly().check(reactor);
    }

    @Test
    void coresArePureAndReadNoHiddenInput() {
        VarveRules.CORES_ARE_PURE.check(reactor);
        VarveRules.CORES_READ_NO_HIDDEN_INPUT.check(reactor);
        VarveRules.CORES_KNOW_NO_NETTY.check(reactor);
    }

    @Test
    void packagesAreAcyclic() {
        VarveRules.PACKAGES_ARE_ACYCLIC.check(reactor);
    }

    @Test
    void librariesHaveHomesAndProcessesBeginInTheCommandLine() {
        VarveRules.librariesHaveHomes().forEach(rule -> rule.check(reactor));
        VarveRules.MAIN_IN_THE_COMMAND_LINE.check(reactor);
    }
}
