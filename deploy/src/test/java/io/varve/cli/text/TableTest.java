package io.varve.cli.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class TableTest {

    @Test
    void columnsAreAsWideAsTheirWidestCellAndNumbersStandToTheRight() {
        Table table = new Table("TOPIC", "SIZE", "OWNER")
                .row("access-log", "1,024", 1)
                .row("a", "9", "-");
        assertThat(table.lines())
                .containsExactly("TOPIC        SIZE  OWNER", "access-log  1,024      1", "a               9      -");
    }

    @Test
    void aColumnWithOneWordStandsToTheLeft() {
        assertThat(new Table("OWNER").row(1).row("none").lines()).containsExactly("OWNER", "1", "none");
    }

    @Test
    void aTableWithoutRowsIsItsHeadings() {
        assertThat(new Table("A", "B").lines()).containsExactly("A  B");
    }

    @Test
    void aRowWithTheWrongNumberOfCellsIsRefused() {
        assertThatThrownBy(() -> new Table("A", "B").row(1)).isInstanceOf(IllegalArgumentException.class);
    }
}
