/// Connecting by address and port, as with sockets (rdma_cm(7)).
///
/// [verbena.verbs.cm.Connection] and [verbena.verbs.cm.ConnectionListener] are all that a program needs which takes
/// one step after the other. [verbena.verbs.cm.EventChannel] and [verbena.verbs.cm.ConnectionId] are what they are
/// built on: identifiers of connections, each with its own parameters, and the events that tell of them.
package verbena.verbs.cm;
