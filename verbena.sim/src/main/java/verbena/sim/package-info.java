/// A deterministic world: real devices in virtual time on a simulated network with seeded faults. Start with
/// [verbena.sim.World].
package verbena.sim;
