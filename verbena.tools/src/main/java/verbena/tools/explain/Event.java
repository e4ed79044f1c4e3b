package verbena.tools.explain;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// Something that happened in a run.
///
/// @param nanos when, by `System.nanoTime`
/// @param tookNanos how long the call took or the packet was under way; negative where that means nothing
/// @param from where; what a packet or a call comes from
/// @param to where it goes; the same where nothing goes anywhere
/// @param label a few words, for the diagram
/// @param text a sentence or two for a reader who sees it for the first time
/// @param packet of a packet, what is in it
record Event(
        long nanos,
        long tookNanos,
        Kind kind,
        Place from,
        Place to,
        String label,
        String text,
        @Nullable Contents packet) {
    enum Kind {
        /// A part of the recording begins.
        PHASE,
        /// An application asks its device for something.
        CALL,
        /// A device tells its application something.
        TOLD,
        /// A packet arrives.
        PACKET,
        /// A packet is sent and never arrives.
        LOST,
        /// Something that happens in one place.
        STEP
    }

    /// The content of a packet.
    ///
    /// @param way from which address to which, outside of the bytes
    /// @param bytes of the packet itself
    /// @param parts their meaning, in their order
    @SuppressWarnings("ArrayRecordComponent") // never compared or changed
    record Contents(String way, byte[] bytes, List<Part> parts) {}

    /// A field of a packet.
    ///
    /// @param header whose field it is
    /// @param meaning what it is for; empty when its name says it
    /// @param from its first byte in the packet
    /// @param count its bytes
    record Part(String header, String name, String value, String meaning, int from, int count) {}

    static Event of(long nanos, Kind kind, Place from, Place to, String label, String text) {
        return new Event(nanos, -1, kind, from, to, label, text, null);
    }

    static Event phase(long nanos, String title, String text) {
        return of(nanos, Kind.PHASE, Place.APPLICATION_A, Place.APPLICATION_B, title, text);
    }

    /// Returns the time that it took, in words; empty when that means nothing.
    String duration() {
        if (tookNanos < 0) {
            return "";
        }
        return (isPacket() ? "in flight for " : "took ") + Recording.micros(tookNanos) + " µs";
    }

    /// Returns whether it happens at the fourth lane, or between that and the third.
    boolean isBeyond() {
        return from == Place.APPLICATION_B || to == Place.APPLICATION_B;
    }

    boolean isPacket() {
        return kind == Kind.PACKET || kind == Kind.LOST;
    }
}
