/** Stock clients of many languages and ages, run as their users run them. */
package io.varve.itest.clients;
