/** Share groups' reads (KIP-932): sessions, acquired records, and what members say of them. */
package io.varve.serving.request.share;
