/// Lossless Ethernet in virtual time: hosts, links and switches that mark, pause and drop, with packets that have no
/// content. Time is counted in picoseconds: a byte takes 80 of them at 100 Gbit/s.
package verbena.sim.ethernet;
