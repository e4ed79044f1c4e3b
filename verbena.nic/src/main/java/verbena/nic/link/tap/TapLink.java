package verbena.nic.link.tap;

import java.lang.foreign.Arena;
import java.util.function.LongSupplier;
import verbena.nic.link.DirectObserver;
import verbena.nic.link.ForwardingLink;
import verbena.nic.link.Link;
import verbena.nic.link.OwnSeal;
import verbena.nic.link.PacketPairs;
import verbena.nic.link.Seal;
import verbena.nic.link.UdpSeal;
import verbena.transport.DirectPackets;
import verbena.transport.PacketFate;
import verbena.wire.Frame;
import verbena.wire.FrameMarks;
import verbena.wire.roce.RoceV2;

/// A link around another that shows a [Tap] every packet.
///
/// An arrival is shown after the engine has judged it, which the engine notes in [Frame#marks]. This link shows
/// it at the engine's next call. Until then, the packets stay where they are.
///
/// Directly around the sockets, this link shows packets as they are on the wire. Around a
/// [verbena.nic.link.FaultyLink], it shows what the engine has sent before any faults, and what the faults let
/// through. So a packet that was lost on purpose is sent and never received. Such a packet has no ICRC yet, because
/// the link below seals a copy; it gets the ICRC that it would have if it left alone. The fate of an arrival is
/// known only where the engine gets the frames of this link and not copies: around a [verbena.nic.link.FaultyLink],
/// or inside a [verbena.nic.link.FaultyLink] that leaves arrivals alone. Where packets carry no ICRC,
/// each is shown with the ICRC that it would have on a wire.
///
/// Threads as in [Link]. Allocates nothing for a packet.
public final class TapLink extends ForwardingLink implements DirectObserver, PacketPairs {
    /// The most packets that are shown of a request that needed none.
    public static final int DIRECT_PACKETS_MAX = 2_048;

    private static final PacketFate[] FATES = PacketFate.values();

    private final Tap tap;
    private final LongSupplier clock;
    private final Seal seal;
    private final Frame direct = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES, 64))[0];
    // The frames of the last receive that the tap has not seen yet, and the time of that receive.
    private Frame[] judging = new Frame[0];
    private int judgingCount;
    private long judgingNanos;
    private long malformedSeen;

    /// @param link closed with this one
    /// @param clock nanoseconds, monotonic
    public TapLink(Link link, Tap tap, LongSupplier clock) {
        super(link);
        this.tap = tap;
        OwnSeal own = link.service(OwnSeal.class);
        this.seal = own == null ? new UdpSeal(RoceV2.UDP_PORT) : own.newSeal();
        this.clock = clock;
        this.malformedSeen = link.malformed();
    }

    /// Returns this chain of links without the link that shows packets to `tap`; the tap first gets the remaining
    /// packets. Called as [Link#receive].
    public static Link without(Tap tap, Link chain) {
        if (!(chain instanceof TapLink outer)) {
            return chain;
        }
        outer.show();
        return outer.tap == tap ? outer.link : new TapLink(without(tap, outer.link), outer.tap, outer.clock);
    }

    @Override
    public int receive(Frame[] frames, int from, int count) {
        show();
        int received = link.receive(frames, from, count);
        judgingNanos = clock.getAsLong();
        if (judging.length < received) {
            judging = new Frame[count];
        }
        for (int i = 0; i < received; i++) {
            judging[i] = frames[from + i];
            judging[i].marks.fate = FrameMarks.NO_FATE;
        }
        judgingCount = received;
        long malformed = link.malformed();
        if (malformed > malformedSeen) {
            tap.onMalformed(malformed - malformedSeen, judgingNanos);
            malformedSeen = malformed;
        }
        return received;
    }

    private void show() {
        int count = judgingCount;
        judgingCount = 0;
        for (int i = 0; i < count; i++) {
            Frame frame = judging[i];
            seal.sealAsIfFromAWire(frame);
            tap.onReceived(
                    frame, frame.marks.fate == FrameMarks.NO_FATE ? null : FATES[frame.marks.fate], judgingNanos);
        }
    }

    @Override
    public int transmit(Frame[] frames, int from, int count) {
        show();
        for (int i = from; i < from + count; i++) {
            frames[i].marks.unsendable = false;
        }
        long now = clock.getAsLong(); // read first, so that no packet is received before it was sent
        int taken = link.transmit(frames, from, count);
        for (int i = from; i < from + taken; i++) {
            Frame frame = frames[i];
            seal.sealWhereACopyWas(frame);
            if (frame.marks.unsendable) {
                tap.onUnsendable(frame, now);
            } else {
                tap.onSent(frame, now);
            }
        }
        return taken;
    }

    /// Shows a request that needed no packets as the packets that it would have had: the first
    /// [#DIRECT_PACKETS_MAX], so that the engine's other work does not wait long. Taps directly behind this one see
    /// them too.
    @Override
    public void showDirect(DirectPackets packets) {
        long now = clock.getAsLong();
        for (int i = 0; i < DIRECT_PACKETS_MAX && packets.poll(direct); i++) {
            seal.seal(direct, 0);
            showDirect(direct, packets.isAnswer(), now);
        }
        if (packets.left() > 0) {
            leaveOut(packets.left(), now);
        }
    }

    private void showDirect(Frame frame, boolean isAnswer, long now) {
        show();
        tap.onDirect(frame, isAnswer, now);
        if (link instanceof TapLink inner) {
            inner.showDirect(frame, isAnswer, now);
        }
    }

    private void leaveOut(int packets, long now) {
        tap.onDirectLeftOut(packets, now);
        if (link instanceof TapLink inner) {
            inner.leaveOut(packets, now);
        }
    }

    /// Implements [Link#hasArrivals()]. The engine calls it when it has judged the received packets.
    @Override
    public boolean hasArrivals() {
        show();
        return link.hasArrivals();
    }

    @Override
    public boolean keepsTogether(Frame first, Frame next) {
        return link instanceof PacketPairs inside && inside.keepsTogether(first, next);
    }

    @Override
    public void close() {
        show();
        super.close();
    }
}
