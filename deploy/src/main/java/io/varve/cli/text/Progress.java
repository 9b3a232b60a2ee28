package io.varve.cli.text;

import java.io.PrintStream;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.function.LongSupplier;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/**
 * How far a long step has come: a bar on a terminal, a line every few seconds anywhere else. Used by one thread.
 */
public final class Progress implements AutoCloseable {

    private static final long LINE_EVERY_NS = Duration.ofSeconds(5).toNanos();

    private final String what;
    private final OptionalLong total;
    private final LongSupplier nanoTime;
    private final PrintStream out;
    private final ProgressBar bar;
    private long lineDueNs;
    private long done;
    private String note = "";

    private Progress(String what, OptionalLong total, boolean terminal, PrintStream out, LongSupplier nanoTime) {
        this.what = what;
        this.total = total;
        this.out = out;
        this.nanoTime = nanoTime;
        this.lineDueNs = nanoTime.getAsLong() + LINE_EVERY_NS;
        this.bar = terminal
                ? new ProgressBarBuilder()
                        .setTaskName(what)
                        .setInitialMax(total.orElse(-1))
                        .setStyle(ProgressBarStyle.ASCII)
                        .setUpdateIntervalMillis(200)
                        .showSpeed()
                        .build()
                : null;
    }

    /** On the process's own terminal, if it has one. */
    public static Progress of(String what, OptionalLong total) {
        return new Progress(what, total, System.console() != null, System.out, System::nanoTime);
    }

    /** In lines, whatever the output is. */
    public static Progress inLines(String what, OptionalLong total, PrintStream out, LongSupplier nanoTime) {
        return new Progress(what, total, false, out, nanoTime);
    }

    /** @param done how much is done in all; never less than before */
    public void to(long done) {
        to(done, "");
    }

    /**
     * {@link #to(long)}, with something to be said beside it.
     *
     * @param note empty for nothing
     */
    public void to(long done, String note) {
        this.done = done;
        this.note = note;
        if (bar != null) {
            bar.setExtraMessage(note);
            bar.stepTo(done);
        } else if (nanoTime.getAsLong() - lineDueNs >= 0) {
            lineDueNs = nanoTime.getAsLong() + LINE_EVERY_NS;
            out.println(line());
        }
    }

    private String line() {
        String line = "  " + what + ": " + Units.count(done);
        if (total.isPresent() && total.getAsLong() > 0) {
            line += " of " + Units.count(total.getAsLong()) + " (" + 100 * done / total.getAsLong() + "%)";
        }
        return note.isEmpty() ? line : line + ", " + note;
    }

    @Override
    public void close() {
        if (bar != null) {
            bar.close();
        }
    }
}
