/// Which way packets take through the switches of a subnet: functions of a graph.
package verbena.subnet.routing;
