/** What of the objects is kept in memory, within one byte budget. The only package that names Caffeine here. */
package io.varve.tiering.cache;
