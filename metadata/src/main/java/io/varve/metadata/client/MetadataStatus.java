package io.varve.metadata.client;

import java.util.List;

/**
 * How the metadata service stands, as its leader sees it.
 *
 * @param leaderId the leader
 * @param term of its leadership
 * @param version the newest version
 * @param appliedIndex the last entry of the log that it applied
 * @param snapshotIndex the entry up to which its newest snapshot goes, 0 without one
 * @param members all nodes
 */
public record MetadataStatus(
        int leaderId, long term, long version, long appliedIndex, long snapshotIndex, List<MetadataMember> members) {
    public MetadataStatus {
        members = List.copyOf(members);
    }
}
