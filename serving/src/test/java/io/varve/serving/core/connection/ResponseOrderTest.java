package io.varve.serving.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.InvariantViolation;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class ResponseOrderTest {

    private final ResponseOrder<String> order = new ResponseOrder<>();

    @Test
    void anAnswerWaitsForThoseBeforeIt() {
        long first = order.open();
        long second = order.open();
        order.complete(second, "second");
        assertThat(order.next()).isNull();
        order.complete(first, "first");
        assertThat(order.next()).isEqualTo("first");
        assertThat(order.next()).isEqualTo("second");
        assertThat(order.next()).isNull();
        assertThat(order.pending()).isZero();
    }

    @Test
    void aSlotIsFilledOnceAndWhileItIsOpen() {
        long ticket = order.open();
        order.complete(ticket, "once");
        assertThatThrownBy(() -> order.complete(ticket, "twice")).isInstanceOf(InvariantViolation.class);
        order.next();
        assertThatThrownBy(() -> order.complete(ticket, "late")).isInstanceOf(InvariantViolation.class);
        assertThatThrownBy(() -> order.complete(ticket + 1, "early")).isInstanceOf(InvariantViolation.class);
    }

    @Test
    void whateverTheOrderOfCompletionAnswersLeaveAsTheyCame() {
        SplittableRandom random = new SplittableRandom(11);
        List<Long> open = new ArrayList<>();
        List<String> left = new ArrayList<>();
        long opened = 0;
        while (left.size() < 5_000) {
            if (random.nextInt(3) != 0 && opened < 5_000) {
                open.add(order.open());
                opened++;
            } else if (!open.isEmpty()) {
                long ticket = open.remove(random.nextInt(open.size()));
                order.complete(ticket, Long.toString(ticket));
            }
            for (String answer; (answer = order.next()) != null; ) {
                left.add(answer);
            }
        }
        for (int i = 0; i < left.size(); i++) {
            assertThat(left.get(i)).isEqualTo(Integer.toString(i));
        }
    }
}
