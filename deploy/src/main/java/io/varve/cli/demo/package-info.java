/** {@code varve demo}: a whole cluster, real input, a kill -9, and every record looked for afterwards. */
package io.varve.cli.demo;
