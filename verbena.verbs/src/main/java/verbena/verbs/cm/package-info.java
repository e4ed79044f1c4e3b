/// The connection manager: connections by address and port, as with sockets (rdma_cm(7)).
///
/// A program that takes one step after the other needs [verbena.verbs.cm.Connection] and
/// [verbena.verbs.cm.ConnectionListener] only. They are built on [verbena.verbs.cm.EventChannel] and
/// [verbena.verbs.cm.ConnectionId]: identifiers of connections, and the events that report on them.
///
/// A server lends memory, and a client writes to it:
///
/// {@snippet file="OneSidedWrite.java"}
package verbena.verbs.cm;
