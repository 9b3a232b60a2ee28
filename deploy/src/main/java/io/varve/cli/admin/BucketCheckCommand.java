package io.varve.cli.admin;

import io.varve.base.StartupException;
import io.varve.tiering.client.Tiering;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Tries everything that Varve will ask of a store. */
@Command(
        name = "check",
        description = {
            "Tries everything that Varve asks of a store (PUT, HEAD, ranged GET, multipart, LIST, DELETE, bulk DELETE) under a key of its"
                    + " own, and says in one line what is wrong.",
            "Ends with 0 if the store can be used, with 14 if it can't."
        })
final class BucketCheckCommand implements Callable<Integer> {

    @Mixin
    private TieringOptions options;

    @Override
    public Integer call() {
        try (Tiering tiering = options.openNew()) {
            var verdict = tiering.probe();
            System.out.println(verdict.line());
            return verdict.isSound() ? 0 : StartupException.Reason.NO_BUCKET.exitCode();
        }
    }
}
