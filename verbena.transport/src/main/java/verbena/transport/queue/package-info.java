/// The rings at which applications and the engine meet.
package verbena.transport.queue;
