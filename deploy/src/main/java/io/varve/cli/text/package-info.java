/** What commands print: tables, numbers, progress, JSON. */
package io.varve.cli.text;
