/** What is known of a client for as long as its connection lives. */
package io.varve.serving.session;
