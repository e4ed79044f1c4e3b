/// Messages with tags, and calls. A [verbena.messages.Worker] has one device or several, and all its peers,
/// each a [verbena.messages.RemoteWorker].
///
/// A server that answers calls, and a client:
///
/// {@snippet file="Calls.java"}
package verbena.messages;
