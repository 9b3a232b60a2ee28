/**
 * The rules of transactions (KIP-98, 360, 890): from the state of a transactional id and a request to its next state and the answer. Pure;
 * the next state counts once it is in the log.
 */
package io.varve.serving.core.txn;
