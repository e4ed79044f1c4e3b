package verbena.transport.iwarp;

import verbena.transport.QueuePairLife;
import verbena.wire.iwarp.StreamTerms;

/// The protocol of a queue pair over a stream of bytes, as the engine, the simulator and a test know it.
/// Engine-confined.
///
/// Bytes that arrive are pushed, bytes that leave are pulled, and nothing waits for time. Nothing here blocks,
/// allocates for a message, or throws, whatever arrives.
public interface StreamProtocol extends QueuePairLife {
    /// Starts the protocol: the stream exists, and carries FPDUs from here on. Takes the queue pair from INIT to
    /// RTS.
    void start(StreamTerms terms, long nowNanos);

    /// Takes the bytes `from` to before `to` of `bytes`, which have arrived. Returns how many of them it is done
    /// with; the rest, the beginning of an FPDU, is to be presented again with more behind it.
    int onBytes(StreamBuffer bytes, int from, int to, long nowNanos);

    /// Returns whether [#onBytes] has stopped because a message needs a receive, and none is posted. Nothing more
    /// is to be read then; the same bytes are to be presented again when there may be one.
    boolean isStalled();

    /// Stops waiting for a receive: when the message is presented again, and there is no receive, it is refused.
    void giveUp();

    /// Stops waiting for the initiator's first FPDU, before which a responder sends nothing (RFC 5044 7.1.2).
    void waitNoLonger();

    /// Returns whether the bytes that come next may be read straight into their place, which `into` then holds. The
    /// caller then passes at least one and at most [StreamTarget#bytes] of them to [#onDirect], and no others
    /// before.
    boolean direct(StreamTarget into);

    /// Notes that bytes have been read to the place that [#direct] gave.
    void onDirect(int bytes, long nowNanos);

    /// Adds the next FPDU to `out`; false when there is none now, or no room. What was added is as good as sent.
    boolean poll(StreamOutput out, long nowNanos);

    /// Finishes the stream after all that is posted by now has left, and all its answers have come.
    void finish(long nowNanos);

    /// Returns whether nothing will ever be sent any more; the stream is to be closed. Asked after [#poll] has
    /// returned false.
    boolean isFinished();

    /// Handles the end of the peer's half.
    void onEnd(long nowNanos);

    /// Handles a broken stream.
    ///
    /// @param why in words
    void onBroken(String why, long nowNanos);
}
