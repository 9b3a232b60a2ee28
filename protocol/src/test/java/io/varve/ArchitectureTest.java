package io.varve;

import org.junit.jupiter.api.Test;

class ArchitectureTest {

    @Test
    void theProtocolModuleKeepsTheRules() {
        VarveRules.checkModule(VarveRules.mainClasses("io.varve.base", "io.varve.protocol"));
    }

    @Test
    void itsTestsDoNotSleep() {
        VarveRules.TESTS_DO_NOT_SLEEP.check(
                VarveRules.testClasses("io.varve.base", "io.varve.protocol", "io.varve.sim"));
    }
}
