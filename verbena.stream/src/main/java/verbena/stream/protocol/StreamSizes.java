package verbena.stream.protocol;

/// The sizes of the parts of a [ByteStream].
///
/// @param sendBytes of the ring of what is on its way
/// @param receiveBytes of the ring that the peer writes to: two halves
/// @param sends requests under way; those below 16 and beyond what the device can are the nearest that it can
/// @param receives messages that the peer may send without being told of more; with the same limits
/// @param mappings of memory that the peer may make known to this side
public record StreamSizes(int sendBytes, int receiveBytes, int sends, int receives, int mappings) {}
