/// The routes of packets through the switches of a subnet: functions of a graph.
package verbena.subnet.routing;
