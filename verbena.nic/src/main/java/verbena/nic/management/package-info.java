/// How a process that uses Verbena can be observed by JMX: an MXBean for each device that it has opened. Nothing
/// here listens; an observer attaches to the process, or the program opens a JMX port itself.
package verbena.nic.management;
