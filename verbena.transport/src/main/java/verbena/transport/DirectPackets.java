package verbena.transport;

import verbena.wire.Frame;

/// The packets that a request would have had which needed none: those of the request, and those of the answer that
/// bring data. An answer that only acknowledges is left out. Of a message of the peer, they are the peer's. For
/// observers ([QueuePairEvents#onDirect]), which pull them. Engine-confined.
///
/// PSNs begin with the next one of the queue pair. The request takes none, so the next packet that is sent has the
/// same PSN. The MSN of an answer is 0, because the peer does not count the request.
public interface DirectPackets {
    /// Returns the number of PSNs whose packets were not pulled yet.
    int left();

    /// Returns whether the last packet that was pulled is the peer's.
    boolean isAnswer();

    /// Fills `frame` with the next packet, addresses included and without an ICRC; false when there is no other, or
    /// the memory of its data is gone.
    boolean poll(Frame frame);
}
