/** How the other modules open tiering: its configuration, and what it makes of it. */
package io.varve.tiering.client;
