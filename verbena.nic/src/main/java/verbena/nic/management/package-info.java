/// What a process that uses Verbena shows of itself by JMX: an MXBean for each device that it has opened. Nothing
/// here listens; whoever looks attaches to the process, or the program has opened a JMX port itself.
package verbena.nic.management;
