/** What an operator looks into a bookie's data directory with. */
package io.varve.bookie.tools;
