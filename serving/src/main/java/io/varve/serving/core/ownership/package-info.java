/** Which partitions a broker should give to another one. Pure. */
package io.varve.serving.core.ownership;
