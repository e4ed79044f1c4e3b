package verbena.transport.weak;

import java.util.Locale;

/// A freedom that the standard gives to a device, and that must not surprise a program (docs/ordering.md).
public enum Freedom {
    /// A WRITE completes at the requester before the processor of the peer sees its bytes.
    LATE_VISIBILITY,
    /// The bytes of one message become visible in any order, in pieces that begin at a multiple of 8 bytes.
    TORN,
    /// The pieces begin anywhere.
    TORN_WORDS,
    /// A SEND or WRITE behind a READ takes effect first, unless it has a fence.
    UNFENCED,
    /// The buffer of a request is read, or written, at any time before the request completes.
    LOCAL_BUFFERS,
    /// A READ takes its bytes at two moments.
    RESAMPLED,
    /// An atomic reads, and writes later: what the owner's processor and WRITEs do between is lost.
    SPLIT_ATOMICS,
    /// Requests of one queue pair leave later than those that were posted after them on another.
    QUEUE_PAIRS,
    /// A request completes after the peer's answer to it has been received.
    LATE_COMPLETIONS,
    /// WRITEs to memory of relaxed ordering become visible in any order.
    RELAXED_ORDERING,
    /// The event of a completion queue comes later than the completion: it may be empty by then, and one event
    /// stands for several.
    LATE_EVENTS,
    /// Any part of the bytes of a failed request is there.
    FAILED_BYTES;

    /// Returns its name in options: `late-visibility`.
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
