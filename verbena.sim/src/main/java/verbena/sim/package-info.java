/// The deterministic world and its packet scripts.
package verbena.sim;
