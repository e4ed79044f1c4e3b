package verbena.transport.iwarp;

import verbena.transport.QueuePairLife;
import verbena.wire.iwarp.StreamTerms;

/// The protocol of a queue pair over a stream of bytes, as the engine, the simulator and a test know it.
/// Engine-confined.
///
/// Bytes that arrive are pushed, bytes that leave are pulled, and nothing waits for time. Nothing here blocks,
/// allocates for a message, or throws, whatever arrives.
public interface StreamProtocol extends QueuePairLife {
    /// The stream exists and start-up is over: from here on it carries FPDUs. Takes the queue pair from INIT to
    /// RTS.
    void start(StreamTerms terms, long nowNanos);

    /// The bytes `from` to before `to` of `bytes` have arrived. Answers how many of them it is done with; the
    /// rest, the beginning of an FPDU, is to be presented again with more behind it.
    int onBytes(StreamBuffer bytes, int from, int to, long nowNanos);

    /// Whether [#onBytes] has stopped because a message needs a receive, and none is posted. Nothing more is to be
    /// read then; the same bytes are to be presented again when there may be one.
    boolean isStalled();

    /// The message has waited for long enough: when it is presented again, and there is no receive, it is refused.
    void giveUp();

    /// A responder that sends nothing before the initiator's first FPDU (RFC 5044 7.1.2) has waited for long
    /// enough.
    void waitNoLonger();

    /// Whether the bytes that come next may be read straight to where they belong, and where that is. At least one
    /// and at most [StreamTarget#bytes] of them are then told by [#onDirect], and no others before.
    boolean direct(StreamTarget into);

    /// Notes that bytes have been read to where [#direct] said.
    void onDirect(int bytes, long nowNanos);

    /// Adds the next FPDU to `out`; false when there is none now, or no room. What was added is as good as sent.
    boolean poll(StreamOutput out, long nowNanos);

    /// What is posted by now still leaves, and what was asked for is still awaited, before the stream is finished.
    void finish(long nowNanos);

    /// Whether nothing will ever be sent any more; the stream is to be closed. Asked after [#poll] has said false.
    boolean isFinished();

    /// The peer has closed its half.
    void onEnd(long nowNanos);

    /// The stream is broken.
    ///
    /// @param why in words
    void onBroken(String why, long nowNanos);
}
