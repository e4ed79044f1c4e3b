package verbena.nic.link.tap;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.transport.PacketFate;
import verbena.wire.Frame;

/// An observer of everything that a device sends and receives as it is on the wire, for captures and traces. Packets
/// of RoCE come as frames with their fate; streams of iWARP come as the bytes of their TCP connection. Attached with
/// [verbena.nic.SoftContext#tap(Tap)].
///
/// The thread that drives an engine calls the tap, and the engine does not go on meanwhile. So no two threads call
/// at once for one engine, but threads of several engines of a device may. All arguments are valid only during the
/// call and must not be changed. Times are nanoseconds of the device's clock (`System.nanoTime`). An exception of a
/// tap stops the device.
public interface Tap {
    /// Called when a packet was handed to the network. Its ICRC is in place, and its addresses and
    /// [Frame#sourcePort] are those of its network headers; [Frame#hopLimit] 0 is the system's default. Packets of
    /// one call of the link have the same time. The ICRC covers the IPv4 identification, which no socket shows:
    /// [verbena.wire.roce.RoceV2#hiddenFields(Frame)] has its value.
    default void onSent(Frame packet, long nanos) {}

    /// Called when a packet can never be sent: no route, too large for the interface, forbidden. It is complete as
    /// in [#onSent].
    default void onUnsendable(Frame packet, long nanos) {}

    /// Called with a packet that has arrived, and its fate. The calls come in order of arrival, after the engine
    /// has judged the packets that arrived together, and before anything that is sent afterwards. A wrong ICRC is
    /// [PacketFate#DROPPED_ICRC]; headers that do not fit their opcode are [PacketFate#DROPPED_MALFORMED].
    ///
    /// @param fate null when the packet was not judged: the engine has failed, or a fault above the tap took the
    ///     packet
    /// @param nanos when the link delivered the packet, which is before it was judged
    default void onReceived(Frame packet, @Nullable PacketFate fate, long nanos) {}

    /// Called when this side has carried out a request in the peer's memory, for each packet that the request
    /// would have had on a wire. These are its own, and those of the answer that bring data. All have the same
    /// time, which is before the request completes. PSNs begin with that of the next packet that is sent. The
    /// peer's taps are not called.
    ///
    /// @param isAnswer whether it would have come from the peer
    default void onDirect(Frame packet, boolean isAnswer, long nanos) {}

    /// Called when a request without packets was too large for all of it to be shown: so many packets that it would
    /// have had are left out.
    default void onDirectLeftOut(int packets, long nanos) {}

    /// Called when this many arrivals were too short or too long to be packets: their bytes are lost.
    default void onMalformed(long arrivals, long nanos) {}

    /// Called when a stream was opened by this side, or accepted. Streams that were open before the tap was
    /// attached are reported when it is attached.
    default void onStreamOpened(TappedStream stream, long nanos) {}

    /// Called when the system has taken these bytes, which follow the bytes of earlier calls.
    ///
    /// @param bytes the memory that holds them
    /// @param from their position in that memory
    /// @param count how many, at least 1
    default void onStreamSent(TappedStream stream, MemorySegment bytes, long from, long count, long nanos) {}

    /// Called when these bytes have arrived, before anything reads them; they follow the bytes of earlier calls.
    /// Arguments as in [#onStreamSent].
    default void onStreamReceived(TappedStream stream, MemorySegment bytes, long from, long count, long nanos) {}

    /// Called when nothing more will be sent on a stream (a FIN).
    ///
    /// @param byPeer whether the peer has ended its direction, else this side
    default void onStreamEnded(TappedStream stream, boolean byPeer, long nanos) {}

    /// Called when this side has closed a stream, even one that never opened.
    ///
    /// @param reset whether either side broke the stream off
    default void onStreamClosed(TappedStream stream, boolean reset, long nanos) {}
}
