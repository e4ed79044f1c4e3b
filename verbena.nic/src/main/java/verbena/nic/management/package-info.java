/// The management of a process by JMX: an MXBean for each device that it has opened. Nothing here listens at a port.
/// An observer attaches to the process, or the program opens a JMX port itself.
package verbena.nic.management;
