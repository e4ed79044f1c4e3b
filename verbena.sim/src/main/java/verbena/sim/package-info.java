/// The deterministic world: real devices in virtual time on a simulated network with seeded faults. Start with
/// [verbena.sim.World]. Packet scripts are in [verbena.sim.script].
package verbena.sim;
