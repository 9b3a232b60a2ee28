package io.varve.serving.net;

import java.nio.ByteBuffer;
import java.util.TreeMap;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.Struct;
import org.apache.kafka.common.protocol.types.TaggedFields;
import org.apache.kafka.common.protocol.types.Type;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;

/**
 * The bytes of a request of any API in any version with something in every field, by the schema of that version: lists of one element, names that
 * are {@code t}, and numbers that mean something where a wrong one would be no request at all.
 */
final class FilledRequest {

    private static final String NAME = "t";

    private FilledRequest() {}

    /** The body. */
    static ByteBuffer of(ApiKeys api, short version) {
        Schema schema = ApiMessageType.fromApiKey(api.id).requestSchemas()[version];
        Object body = valueOf(schema, "");
        ByteBuffer bytes = ByteBuffer.allocate(schema.sizeOf(body));
        schema.write(bytes, body);
        return bytes.flip();
    }

    private static Object valueOf(Type type, String field) {
        if (type instanceof Schema schema) {
            Struct struct = new Struct(schema);
            for (BoundField inner : schema.fields()) {
                struct.set(inner, valueOf(inner.def.type, inner.def.name));
            }
            return struct;
        }
        if (type.isArray()) {
            return new Object[] {valueOf(type.arrayElementType().orElseThrow(), field)};
        }
        if (type instanceof TaggedFields) {
            return new TreeMap<Integer, Object>();
        }
        String kind = type.toString();
        return switch (kind) {
            case "BOOLEAN" -> true;
            case "INT8" -> small(field);
            case "INT16" -> (short) small(field);
            case "UINT16" -> 1;
            case "INT32" -> (int) small(field);
            case "UINT32", "UNSIGNED_INT32", "INT64", "VARLONG" -> 1L;
            case "FLOAT64" -> 1.0;
            case "UUID" -> new Uuid(1, 1);
            case "STRING", "COMPACT_STRING", "NULLABLE_STRING", "COMPACT_NULLABLE_STRING" -> NAME;
            case "RECORDS", "COMPACT_RECORDS", "NULLABLE_RECORDS", "COMPACT_NULLABLE_RECORDS" ->
                MemoryRecords.withRecords(Compression.NONE, new SimpleRecord(new byte[] {1}));
            default -> ByteBuffer.wrap(new byte[] {1});
        };
    }

    private static byte small(String field) {
        return switch (field) {
            case "acks" -> -1;
            // A topic, by its literal name, may be read.
            case "resource_type", "resource_type_filter" -> 2;
            case "resource_pattern_type", "pattern_type_filter", "operation", "permission_type" -> 3;
            case "replica_id" -> -1;
            case "max_wait_ms", "timeout_ms", "partition", "partition_index", "index", "session_id" -> 0;
            case "session_epoch" -> -1;
            default -> 1;
        };
    }
}
