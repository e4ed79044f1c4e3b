/// What programs do in a world, and what has to come of it: random requests whose every completion and byte is
/// checked. Start with [verbena.sim.traffic.Simulation].
package verbena.sim.traffic;
