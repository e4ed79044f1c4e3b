/// The nodes of a subnet: ports and tables, and the agents that a subnet manager speaks to.
package verbena.subnet.node;
