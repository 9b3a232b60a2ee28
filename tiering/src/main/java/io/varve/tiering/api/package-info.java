/** How bookies hand segments to object storage, and how brokers read them back. */
package io.varve.tiering.api;
