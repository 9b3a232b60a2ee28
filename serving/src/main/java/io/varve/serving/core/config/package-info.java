/** Configuration of named resources that isn't a topic's or a broker's: how it lies in the cluster's configuration. Pure. */
package io.varve.serving.core.config;
