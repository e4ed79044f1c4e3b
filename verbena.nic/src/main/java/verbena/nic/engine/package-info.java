/// The engine: which thread calls what, and when.
package verbena.nic.engine;
