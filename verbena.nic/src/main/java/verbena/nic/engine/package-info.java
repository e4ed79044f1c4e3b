/// The engine: who calls whom, on which thread, and when.
package verbena.nic.engine;
