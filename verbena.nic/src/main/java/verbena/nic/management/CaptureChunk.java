package verbena.nic.management;

/// A piece of a capture.
///
/// @param blocks enhanced packet blocks of pcapng, whole, of interface 0; empty when nothing has come
/// @param captured packets since the capture began, and events of streams
/// @param lost not captured since then, because there was no room
/// @param ended whether nothing more will come
@SuppressWarnings("ArrayRecordComponent") // what JMX transfers; nobody compares chunks
public record CaptureChunk(byte[] blocks, long captured, long lost, boolean ended) {}
