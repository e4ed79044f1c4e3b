package verbena.nic.management;

/// A piece of a capture.
///
/// @param blocks enhanced packet blocks of pcapng, whole, of interface 0; empty when nothing has come
/// @param captured the number of packets, and events of streams, since the capture began
/// @param lost how many were not captured since then, because there was no room
/// @param ended whether nothing more will come
@SuppressWarnings("ArrayRecordComponent") // JMX transfers it; chunks are never compared
public record CaptureChunk(byte[] blocks, long captured, long lost, boolean ended) {}
