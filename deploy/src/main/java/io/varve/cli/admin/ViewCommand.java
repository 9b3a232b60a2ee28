package io.varve.cli.admin;

import io.varve.cli.link.MetadataLink;
import io.varve.cli.text.Json;
import io.varve.metadata.api.MetadataView;
import java.io.PrintStream;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * A command that shows something of one version of the metadata, in tables or as JSON.
 *
 * @param <T> what it shows
 */
abstract class ViewCommand<T> implements Callable<Integer> {

    @Mixin
    protected MetadataOptions metadata;

    @Option(names = "--json", description = "Prints JSON.")
    private boolean json;

    @Override
    public final Integer call() {
        try (MetadataLink link = metadata.connect()) {
            T report = report(link.client().view());
            if (json) {
                Json.print(System.out, report);
            } else {
                print(report, System.out);
            }
        }
        return 0;
    }

    /** What is to be shown of a version that is as new as any. */
    abstract T report(MetadataView view);

    /** Shows it to people. */
    abstract void print(T report, PrintStream out);
}
