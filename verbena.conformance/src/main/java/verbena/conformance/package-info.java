/// The suite: its cases, how they are run over a device, and what came of it.
package verbena.conformance;
