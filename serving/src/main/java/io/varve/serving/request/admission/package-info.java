/** Quotas: holding clients to them, and the requests that describe and alter them. */
package io.varve.serving.request.admission;
