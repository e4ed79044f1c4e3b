/// Experiments on networks in virtual time, each after a publication, with what it has to show.
package verbena.sim.scenario;
