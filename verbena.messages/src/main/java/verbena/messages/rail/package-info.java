/// What a worker has of its devices and of its peers there: memory, connections, requests and completions. Nothing
/// here takes a lock: the worker has one.
package verbena.messages.rail;
