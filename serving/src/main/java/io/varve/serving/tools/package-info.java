/** What operators' commands need of the serving side, without a broker. */
package io.varve.serving.tools;
