package io.varve.serving.kafka.txn;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import io.varve.serving.core.txn.Txn;
import io.varve.serving.core.txn.TxnStatus;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.common.message.ListTransactionsRequestData;

/** Which transactions an admin client wants to see. Patterns are matched in linear time, whatever the client sends. */
final class TxnFilter {

    private static final long ANY_DURATION = -1;

    private final Set<TxnStatus> statuses;
    private final boolean anyStatus;
    private final List<String> unknownStates;
    private final Set<Long> producerIds;
    private final long openForMs;
    private final Optional<Pattern> ids;

    private TxnFilter(ListTransactionsRequestData request, Optional<Pattern> ids) {
        this.statuses = EnumSet.noneOf(TxnStatus.class);
        this.unknownStates = new ArrayList<>();
        for (String title : request.stateFilters()) {
            Optional<TxnStatus> status = statusOf(title);
            status.ifPresentOrElse(statuses::add, () -> unknownStates.add(title));
        }
        this.anyStatus = request.stateFilters().isEmpty();
        this.producerIds = new TreeSet<>(request.producerIdFilters());
        this.openForMs = request.durationFilter();
        this.ids = ids;
    }

    /** Empty if the pattern in the request is none. */
    static Optional<TxnFilter> of(ListTransactionsRequestData request) {
        String pattern = request.transactionalIdPattern();
        try {
            return Optional.of(new TxnFilter(
                    request,
                    pattern == null || pattern.isEmpty() ? Optional.empty() : Optional.of(Pattern.compile(pattern))));
        } catch (PatternSyntaxException e) {
            return Optional.empty();
        }
    }

    private static Optional<TxnStatus> statusOf(String title) {
        for (TxnStatus status : TxnStatus.values()) {
            if (status.title().equals(title)) {
                return Optional.of(status);
            }
        }
        return Optional.empty();
    }

    List<String> unknownStates() {
        return unknownStates;
    }

    boolean accepts(Txn txn, long nowMs) {
        return (anyStatus || statuses.contains(txn.status()))
                && (producerIds.isEmpty() || producerIds.contains(txn.producerId()))
                && (openForMs <= ANY_DURATION || (txn.startMs() != Txn.NONE && nowMs - txn.startMs() > openForMs))
                && ids.map(pattern -> pattern.matches(txn.id())).orElse(true);
    }
}
