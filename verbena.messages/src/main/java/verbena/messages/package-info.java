/// Messages with tags, and calls. A [verbena.messages.Worker] has one device and all its peers, each an
/// [verbena.messages.RemoteWorker].
package verbena.messages;
