/// The nodes of a subnet: ports and tables, and the agents with which a subnet manager communicates.
package verbena.subnet.node;
