package io.varve.serving;

import io.varve.VarveRules;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    @Test
    void theModuleKeepsTheRules() {
        VarveRules.checkModule(VarveRules.mainClasses("io.varve.serving"));
    }

    @Test
    void itsTestsDoNotSleep() {
        VarveRules.TESTS_DO_NOT_SLEEP.check(VarveRules.testClasses("io.varve.serving"));
    }
}
