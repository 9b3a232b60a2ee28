/** Clusters of real processes: killed, paused, restarted under load, with every acknowledged record looked for afterwards. */
package io.varve.itest.cluster;
