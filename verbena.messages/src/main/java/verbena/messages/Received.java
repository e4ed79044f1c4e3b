package verbena.messages;

/// A message that a receive has taken.
///
/// @param from the peer that has sent it
/// @param tag of the message
/// @param length bytes of the message; those that the memory has no room for are lost
/// @param isTruncated whether some are
public record Received(RemoteWorker from, long tag, long length, boolean isTruncated) {}
