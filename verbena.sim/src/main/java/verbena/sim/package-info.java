/// The deterministic world: virtual time, seeded faults, checkers. Empty for now; what runs a packet script is in
/// [verbena.sim.script], and the seeded world will stand beside it.
package verbena.sim;
