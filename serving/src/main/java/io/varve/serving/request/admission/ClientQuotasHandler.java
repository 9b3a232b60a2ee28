package io.varve.serving.request.admission;

import io.varve.serving.core.admission.QuotaEntity;
import io.varve.serving.core.admission.QuotaKey;
import io.varve.serving.core.admission.QuotaTable;
import io.varve.serving.request.Answer;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.ClientRequest;
import io.varve.serving.request.Futures;
import io.varve.serving.request.MetadataErrors;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.message.AlterClientQuotasRequestData;
import org.apache.kafka.common.message.AlterClientQuotasResponseData;
import org.apache.kafka.common.message.DescribeClientQuotasRequestData;
import org.apache.kafka.common.message.DescribeClientQuotasRequestData.ComponentData;
import org.apache.kafka.common.message.DescribeClientQuotasResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.requests.AlterClientQuotasResponse;
import org.apache.kafka.common.requests.ApiError;
import org.apache.kafka.common.requests.DescribeClientQuotasRequest;
import org.apache.kafka.common.requests.DescribeClientQuotasResponse;

/** DescribeClientQuotas and AlterClientQuotas, for users, client ids (KIP-546) and addresses (KIP-612). */
public final class ClientQuotasHandler {

    private final BrokerServices broker;

    /** @param broker surroundings */
    public ClientQuotasHandler(BrokerServices broker) {
        this.broker = broker;
    }

    // ---- describe

    /** Handles a DescribeClientQuotas. */
    public CompletableFuture<Answer> describe(ClientRequest request) {
        DescribeClientQuotasRequestData data = request.data();
        return broker.finder().views().get().thenApply(view -> {
            List<DescribeClientQuotasResponseData.EntryData> entries = new ArrayList<>();
            QuotaTable.of(view.clusterConfigs()).all().forEach((entity, values) -> {
                if (matches(data, entity)) {
                    entries.add(entry(entity, values));
                }
            });
            return Answer.of(
                    new DescribeClientQuotasResponse(new DescribeClientQuotasResponseData().setEntries(entries)));
        });
    }

    private static boolean matches(DescribeClientQuotasRequestData data, QuotaEntity entity) {
        Map<String, Optional<String>> parts = parts(entity);
        for (ComponentData component : data.components()) {
            Optional<String> part = parts.remove(component.entityType());
            if (part == null || !matches(component, part)) {
                return false;
            }
        }
        // Strict: nothing but what was asked for may be part of the entity.
        return !data.strict() || parts.values().stream().allMatch(Optional::isEmpty);
    }

    /** The parts of an entity by Kafka's names of them. */
    private static Map<String, Optional<String>> parts(QuotaEntity entity) {
        Map<String, Optional<String>> parts = new TreeMap<>();
        parts.put(ClientQuotaEntity.USER, entity.user());
        parts.put(ClientQuotaEntity.CLIENT_ID, entity.clientId());
        parts.put(ClientQuotaEntity.IP, entity.ip());
        return parts;
    }

    private static boolean matches(ComponentData component, Optional<String> part) {
        return switch (component.matchType()) {
            case DescribeClientQuotasRequest.MATCH_TYPE_EXACT -> part.equals(Optional.ofNullable(component.match()));
            case DescribeClientQuotasRequest.MATCH_TYPE_DEFAULT -> part.equals(Optional.of(QuotaEntity.DEFAULT));
            default -> part.isPresent();
        };
    }

    private static DescribeClientQuotasResponseData.EntryData entry(QuotaEntity entity, Map<QuotaKey, Double> values) {
        List<DescribeClientQuotasResponseData.EntityData> parts = new ArrayList<>();
        parts(entity).forEach((type, part) -> part.ifPresent(name -> parts.add(part(type, name))));
        List<DescribeClientQuotasResponseData.ValueData> all = new ArrayList<>();
        values.forEach((key, value) -> all.add(new DescribeClientQuotasResponseData.ValueData()
                .setKey(key.kafkaName())
                .setValue(value)));
        return new DescribeClientQuotasResponseData.EntryData().setEntity(parts).setValues(all);
    }

    private static DescribeClientQuotasResponseData.EntityData part(String type, String name) {
        return new DescribeClientQuotasResponseData.EntityData()
                .setEntityType(type)
                .setEntityName(name.equals(QuotaEntity.DEFAULT) ? null : name);
    }

    // ---- alter

    /** Handles an AlterClientQuotas. */
    public CompletableFuture<Answer> alter(ClientRequest request) {
        AlterClientQuotasRequestData data = request.data();
        List<CompletableFuture<AlterClientQuotasResponseData.EntryData>> results = new ArrayList<>();
        for (AlterClientQuotasRequestData.EntryData entry : data.entries()) {
            results.add(broker.deadlines()
                    .within(
                            broker.settings().adminTimeoutMs(),
                            alter(entry, data.validateOnly()),
                            () -> new ApiError(Errors.REQUEST_TIMED_OUT, null))
                    .thenApply(error -> result(entry, error)));
        }
        return Futures.all(results)
                .thenApply(all ->
                        Answer.of(new AlterClientQuotasResponse(new AlterClientQuotasResponseData().setEntries(all))));
    }

    private CompletableFuture<ApiError> alter(AlterClientQuotasRequestData.EntryData entry, boolean validateOnly) {
        Optional<QuotaEntity> entity = entityOf(entry);
        if (entity.isEmpty()) {
            return refused("Quotas are for a user, a client id, or both, or else for an IP address.");
        }
        Map<String, Optional<String>> changes = new TreeMap<>();
        for (AlterClientQuotasRequestData.OpData operation : entry.ops()) {
            Optional<QuotaKey> key = QuotaKey.of(operation.key());
            if (key.isEmpty() || key.get().ofAddress() != entity.get().ip().isPresent()) {
                return refused("Invalid configuration key " + operation.key());
            }
            if (!operation.remove() && !(operation.value() > 0)) {
                return refused("Quota " + operation.key() + " must be greater than 0");
            }
            changes.put(
                    QuotaTable.configKey(entity.get(), key.get()),
                    operation.remove() ? Optional.empty() : Optional.of(Double.toString(operation.value())));
        }
        if (validateOnly) {
            return CompletableFuture.completedFuture(ApiError.NONE);
        }
        return broker.metadata()
                .alterBrokerConfigs(Optional.empty(), changes)
                .handle((done, failure) -> failure == null ? ApiError.NONE : MetadataErrors.toKafka(failure));
    }

    private static Optional<QuotaEntity> entityOf(AlterClientQuotasRequestData.EntryData entry) {
        Map<String, String> parts = new TreeMap<>();
        for (AlterClientQuotasRequestData.EntityData part : entry.entity()) {
            boolean known = ClientQuotaEntity.isValidEntityType(part.entityType());
            String name = Optional.ofNullable(part.entityName()).orElse(QuotaEntity.DEFAULT);
            boolean ofNobody = part.entityName() != null && part.entityName().isEmpty();
            if (!known || ofNobody || parts.put(part.entityType(), name) != null) {
                return Optional.empty();
            }
        }
        Optional<String> ip = Optional.ofNullable(parts.get(ClientQuotaEntity.IP));
        return parts.isEmpty() || ip.isPresent() && parts.size() > 1
                ? Optional.empty()
                : Optional.of(new QuotaEntity(
                        Optional.ofNullable(parts.get(ClientQuotaEntity.USER)),
                        Optional.ofNullable(parts.get(ClientQuotaEntity.CLIENT_ID)),
                        ip));
    }

    private static CompletableFuture<ApiError> refused(String message) {
        return CompletableFuture.completedFuture(new ApiError(Errors.INVALID_REQUEST, message));
    }

    private static AlterClientQuotasResponseData.EntryData result(
            AlterClientQuotasRequestData.EntryData entry, ApiError error) {
        return new AlterClientQuotasResponseData.EntryData()
                .setErrorCode(error.error().code())
                .setErrorMessage(error.isFailure() ? error.messageWithFallback() : null)
                .setEntity(entry.entity().stream()
                        .map(part -> new AlterClientQuotasResponseData.EntityData()
                                .setEntityType(part.entityType())
                                .setEntityName(part.entityName()))
                        .toList());
    }
}
