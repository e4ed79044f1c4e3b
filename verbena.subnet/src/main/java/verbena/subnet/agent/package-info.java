/// Agents of programs at queue pairs 0 and 1, as a kernel has them: who gets which datagram.
package verbena.subnet.agent;
