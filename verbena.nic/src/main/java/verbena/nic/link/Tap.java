package verbena.nic.link;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.transport.PacketFate;
import verbena.wire.Frame;

/// Is shown everything that a device sends and receives, as it is on the wire: for captures and traces. Packets of
/// RoCE come as frames, with what became of them; iWARP's streams as bytes of their TCP connection. Attached with
/// [verbena.nic.SoftContext#tap(Tap)].
///
/// The thread that drives an engine calls it, and the engine does not go on meanwhile: so no two threads call at
/// once for one engine, but those of a device with several engines may. Everything shown is valid during the call
/// only, and not to be changed. Times are nanoseconds of the device's clock (`System.nanoTime`). What a tap throws
/// stops the device.
public interface Tap {
    /// A packet was handed to the network. Its ICRC (or stamp, decision 0035) is in place, addresses and
    /// [Frame#sourcePort] are those of its network headers; [Frame#hopLimit] 0 is the system's default. Packets of
    /// one call of the link have one time. The IPv4 identification, which the ICRC covers and no socket shows, is
    /// what [verbena.wire.roce.RoceV2#hiddenFields(Frame)] says.
    default void onSent(Frame packet, long nanos) {}

    /// A packet could not be sent, ever: no route, too large for the interface, forbidden. It is complete as in
    /// [#onSent].
    default void onUnsendable(Frame packet, long nanos) {}

    /// A packet has arrived, and this is what became of it. Told in the order of arrival, as soon as the engine
    /// has judged what arrived together, and before anything that is sent thereafter. A wrong ICRC is
    /// [PacketFate#DROPPED_ICRC], and headers that do not fit their opcode are [PacketFate#DROPPED_MALFORMED].
    ///
    /// @param fate null when the packet was not judged: the engine has failed, or faults above the tap took the
    ///     packet
    /// @param nanos when the link gave it out, which is before it was judged
    default void onReceived(Frame packet, @Nullable PacketFate fate, long nanos) {}

    /// So many arrivals were too short or too long to be packets at all: their bytes are gone.
    default void onMalformed(long arrivals, long nanos) {}

    /// A stream is there: this side has asked for it, or accepted it. Streams that were open before the tap was
    /// attached are told of then.
    default void onStreamOpened(TcpSocket stream, long nanos) {}

    /// The system has taken these bytes, which follow those before.
    ///
    /// @param bytes memory that holds them
    /// @param from where in it they begin
    /// @param count of them, at least 1
    default void onStreamSent(TcpSocket stream, MemorySegment bytes, long from, long count, long nanos) {}

    /// These bytes have arrived, and follow those before. Told before anything looks at them; arguments as above.
    default void onStreamReceived(TcpSocket stream, MemorySegment bytes, long from, long count, long nanos) {}

    /// Nothing more will be sent on it (a FIN).
    ///
    /// @param byPeer whether the peer has said so, else this side
    default void onStreamEnded(TcpSocket stream, boolean byPeer, long nanos) {}

    /// This side has closed it. Told of streams that never opened too.
    ///
    /// @param reset whether it was broken off, by whichever side
    default void onStreamClosed(TcpSocket stream, boolean reset, long nanos) {}
}
