package io.varve.cli.bench;

import io.varve.cli.text.Table;
import io.varve.cli.text.Units;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/**
 * What one phase came to.
 *
 * @param phase its name
 * @param records how many
 * @param bytes of keys and values
 * @param nanos how long it took
 * @param p50Micros median latency in microseconds, -1 if the phase has none
 * @param p99Micros likewise
 * @param maxMicros likewise
 * @param note what else is worth knowing, or empty
 */
record BenchResult(
        String phase,
        long records,
        long bytes,
        long nanos,
        long p50Micros,
        long p99Micros,
        long maxMicros,
        String note) {

    static BenchResult of(String phase, long records, long bytes, long nanos, Histogram micros, String note) {
        return new BenchResult(
                phase,
                records,
                bytes,
                nanos,
                micros.getValueAtPercentile(50),
                micros.getValueAtPercentile(99),
                micros.getMaxValue(),
                note);
    }

    static BenchResult withoutLatency(String phase, long records, long bytes, long nanos, String note) {
        return new BenchResult(phase, records, bytes, nanos, -1, -1, -1, note);
    }

    /** Records in a second. */
    public long recordsPerSecond() {
        return Units.perSecond(records, nanos);
    }

    /** Megabytes (10^6 bytes) in a second. */
    public double megabytesPerSecond() {
        return nanos <= 0 ? 0 : bytes * 1e3 / nanos;
    }

    static Table table(List<BenchResult> results) {
        Table table = new Table("PHASE", "RECORDS", "TIME", "RECORDS/S", "MB/S", "P50", "P99", "MAX", "NOTE");
        for (BenchResult result : results) {
            table.row(
                    result.phase,
                    Units.count(result.records),
                    Units.duration(result.nanos),
                    Units.count(result.recordsPerSecond()),
                    String.format(Locale.ROOT, "%.1f", result.megabytesPerSecond()),
                    latency(result.p50Micros),
                    latency(result.p99Micros),
                    latency(result.maxMicros),
                    result.note);
        }
        return table;
    }

    private static String latency(long micros) {
        return micros < 0 ? "-" : Units.microsAsMs(micros);
    }
}
