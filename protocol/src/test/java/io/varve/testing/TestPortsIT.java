package io.varve.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.ServerSocket;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class TestPortsIT {

    /** Beyond the blocks that tests take, below the ports that systems give. */
    private static final int ELSEWHERE = 32_000;

    private static final int BLOCKS = 7;

    @Test
    void eachProcessHasPortsOfItsOwn() {
        TestPorts one = TestPorts.takeBlock(ELSEWHERE, BLOCKS);
        TestPorts other = TestPorts.takeBlock(ELSEWHERE, BLOCKS);
        TreeSet<Integer> given = new TreeSet<>();
        for (int i = 0; i < 50; i++) {
            given.add(one.getAsInt());
            given.add(other.getAsInt());
        }
        assertThat(given).hasSize(100);
        int block = given.first() - 1;
        assertThatThrownBy(() -> TestPorts.takeBlock(block, 1)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aPortComesAgainOnlyAfterAllOthersAndNeverWhileSomebodyListens() throws Exception {
        TestPorts ports = TestPorts.takeBlock(ELSEWHERE, BLOCKS);
        int taken = ports.getAsInt();
        TreeSet<Integer> given = new TreeSet<>();
        try (ServerSocket listening = new ServerSocket(taken)) {
            for (int i = 0; i < 98; i++) {
                given.add(ports.getAsInt());
            }
            assertThat(given).hasSize(98).doesNotContain(listening.getLocalPort());
            assertThat(ports.getAsInt()).as("the next round").isIn(given);
        }
        given.clear();
        for (int i = 0; i < 99; i++) {
            given.add(ports.getAsInt());
        }
        assertThat(given).hasSize(99).contains(taken);
    }

    @Test
    void portsInARowAreOfOneBlock() {
        TestPorts ports = TestPorts.takeBlock(ELSEWHERE, BLOCKS);
        int base = ports.getAsInt() - 1;
        for (int i = 0; i < 60; i++) {
            assertThat(ports.inARow(4)).isBetween(base + 1, base + 96);
        }
    }
}
