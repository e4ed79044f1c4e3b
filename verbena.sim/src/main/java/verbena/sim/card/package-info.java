/// A model of a network card from inside, in virtual time: host, PCIe, card and port, and experiments on it.
package verbena.sim.card;
