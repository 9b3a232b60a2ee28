package io.varve.serving.core.partition;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class StepTest {

    private final Step step = new Step(10);

    @Test
    void onlyTheAnswerToTheTryUnderWayCounts() {
        step.begin(1);
        step.begin(2);
        assertThat(step.isCurrent(1)).isFalse();
        assertThat(step.isCurrent(2)).isTrue();
        step.done();
        assertThat(step.isCurrent(2)).isFalse();
        assertThat(step.isCurrent(0)).as("no ticket is zero").isFalse();
    }

    @Test
    void pausesDoubleUpToABoundAndASuccessEndsThem() {
        long nowNs = 0;
        for (long pause : new long[] {10, 20, 40, 80, 160, 320, 320}) {
            step.begin(1);
            step.failed(nowNs);
            assertThat(step.isDue(nowNs + pause - 1)).isFalse();
            assertThat(step.isFree(nowNs + pause - 1)).isFalse();
            nowNs += pause;
            assertThat(step.isDue(nowNs)).isTrue();
            assertThat(step.isFree(nowNs)).isTrue();
        }
        assertThat(step.isFailing()).isTrue();
        step.done();
        assertThat(step.isFailing()).isFalse();
        assertThat(step.isDue(Long.MAX_VALUE - 1)).isFalse();
    }

    @Test
    void whatIsGivenUpIsNeitherDueNorUnderWay() {
        step.begin(1);
        step.failed(0);
        step.giveUp();
        assertThat(step.isDue(1_000)).isFalse();
        assertThat(step.isFree(0)).isTrue();
        assertThat(step.isUnderWay()).isFalse();
    }
}
