/** Running a role as a process: configuration from files and options, readiness, draining, exit codes. */
package io.varve.cli.role;
