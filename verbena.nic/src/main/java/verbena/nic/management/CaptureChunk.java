package verbena.nic.management;

import verbena.verbs.Preview;

/// A piece of a capture ([DeviceMXBean#readCapture]). Its array is never changed.
///
/// @param blocks enhanced packet blocks of pcapng, whole, of interface 0; empty when nothing has come
/// @param captured number of packets, and events of streams, since the capture began
/// @param lost number of those that were not captured, because there was no room
/// @param ended whether the capture has ended, so that nothing more will come
/// @since 0.1
@SuppressWarnings("ArrayRecordComponent") // JMX transfers it; chunks are never compared
public record CaptureChunk(byte[] blocks, long captured, long lost, boolean ended) {
    @Preview
    public CaptureChunk {}
}
