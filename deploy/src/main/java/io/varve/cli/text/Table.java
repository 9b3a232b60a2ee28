package io.varve.cli.text;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;

/**
 * Rows under headings, each column as wide as its widest cell. Columns in which every cell is a number stand to the right, all others to
 * the left. For one thread.
 */
public final class Table {

    private final List<String> headings;
    private final List<List<String>> rows = new ArrayList<>();

    public Table(String... headings) {
        this.headings = List.of(headings);
    }

    /** @throws IllegalArgumentException if there are not as many cells as headings */
    public Table row(Object... cells) {
        if (cells.length != headings.size()) {
            throw new IllegalArgumentException(cells.length + " cells under " + headings.size() + " headings");
        }
        List<String> row = new ArrayList<>(cells.length);
        for (Object cell : cells) {
            row.add(String.valueOf(cell));
        }
        rows.add(row);
        return this;
    }

    /** The lines, headings first, without blanks at their ends. */
    public List<String> lines() {
        int[] widths = new int[headings.size()];
        boolean[] numeric = new boolean[headings.size()];
        for (int column = 0; column < widths.length; column++) {
            widths[column] = headings.get(column).length();
            numeric[column] = !rows.isEmpty();
            for (List<String> row : rows) {
                widths[column] = Math.max(widths[column], row.get(column).length());
                numeric[column] &= isNumber(row.get(column));
            }
        }
        List<String> lines = new ArrayList<>(rows.size() + 1);
        lines.add(line(headings, widths, numeric));
        for (List<String> row : rows) {
            lines.add(line(row, widths, numeric));
        }
        return lines;
    }

    /** Prints {@link #lines()}. */
    public void print(PrintStream out) {
        lines().forEach(out::println);
    }

    private static String line(List<String> cells, int[] widths, boolean[] numeric) {
        StringBuilder line = new StringBuilder();
        for (int column = 0; column < widths.length; column++) {
            String cell = cells.get(column);
            String padding = " ".repeat(widths[column] - cell.length());
            line.append(numeric[column] ? padding + cell : cell + padding).append("  ");
        }
        return line.toString().stripTrailing();
    }

    private static boolean isNumber(String cell) {
        return cell.equals("-") || cell.matches("-?[0-9][0-9,.]*( [kMGT]?i?B)?( ms| s)?");
    }
}
