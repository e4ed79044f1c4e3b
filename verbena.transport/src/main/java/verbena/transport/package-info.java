/// The protocols without I/O: functions of state, packet and time.
package verbena.transport;
