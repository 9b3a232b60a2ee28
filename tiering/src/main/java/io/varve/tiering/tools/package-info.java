/** What an operator looks at objects with; prints for people. */
package io.varve.tiering.tools;
