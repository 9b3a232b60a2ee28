package io.varve.serving.core.share;

import io.varve.base.PartitionId;

/**
 * A partition as a share group sees it.
 *
 * @param group whose
 * @param partition which
 */
public record ShareKey(String group, PartitionId partition) {}
