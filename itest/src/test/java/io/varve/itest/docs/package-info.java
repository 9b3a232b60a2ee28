/** What the documents say is so. */
package io.varve.itest.docs;
