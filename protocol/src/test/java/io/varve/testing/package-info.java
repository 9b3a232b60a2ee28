/** What tests with sockets and processes share. */
package io.varve.testing;
