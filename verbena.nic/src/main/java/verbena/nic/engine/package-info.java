/// The engine of a software device: which thread does its work, in which order, and where threads wait for more.
package verbena.nic.engine;
