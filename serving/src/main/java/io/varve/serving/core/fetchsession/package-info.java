/** Incremental fetch sessions (KIP-227): what a consumer asked for and was last told. Pure: time and ids are handed in. */
package io.varve.serving.core.fetchsession;
