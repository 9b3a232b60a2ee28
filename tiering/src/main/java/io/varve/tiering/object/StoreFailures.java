package io.varve.tiering.object;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** Finds out what a failed future of a store failed with. */
public final class StoreFailures {

    private StoreFailures() {}

    /** What lies under the wrappers that futures put around it. */
    public static Throwable root(Throwable failure) {
        Throwable at = failure;
        while ((at instanceof CompletionException || at instanceof ExecutionException) && at.getCause() != null) {
            at = at.getCause();
        }
        return at;
    }

    /**
     * The failure as the store's own; what is none is UNREACHABLE, because nothing is known of the call then.
     *
     * @throws Error if that is what it is: a broken invariant is no trouble of the store's, and must reach a fault handler as what it is
     */
    public static StoreException of(Throwable failure) {
        Throwable root = root(failure);
        if (root instanceof Error broken) {
            throw broken;
        }
        return root instanceof StoreException store
                ? store
                : new StoreException(StoreException.Kind.UNREACHABLE, root.toString(), root);
    }

    /**
     * Waits for a store's answer: every call has its deadline.
     *
     * @throws IOException with the store's one line, if it failed
     */
    public static <T> T await(CompletableFuture<T> answer) throws IOException {
        try {
            return answer.join();
        } catch (CompletionException e) {
            throw new IOException(of(e).getMessage(), e);
        }
    }
}
