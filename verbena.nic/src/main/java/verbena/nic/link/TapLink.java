package verbena.nic.link;

import java.util.function.LongSupplier;
import verbena.transport.PacketFate;
import verbena.wire.Frame;
import verbena.wire.roce.RoceV2;

/// A link around another that shows a [Tap] every packet.
///
/// An arrival is shown when the engine has judged it, which the engine notes in [Frame#fate]: that is when the
/// engine next asks this link for anything. Until then the packets lie where they are.
///
/// Right around the sockets this link shows what is on the wire. Around a [FaultyLink] it shows what the engine has
/// sent before faults take their share, and what they let through: a packet that was lost on purpose is sent and
/// never received. Such a packet has no ICRC yet, because the link below seals a copy. It gets the ICRC that it has
/// when it leaves alone. What becomes of an arrival can be told only where the engine is given the frames of this
/// link, not copies: around a [FaultyLink], or inside one that leaves arrivals alone.
///
/// Threads as [Link] says. Nothing is allocated for a packet.
public final class TapLink extends ForwardingLink {
    private static final PacketFate[] FATES = PacketFate.values();

    private final Tap tap;
    private final LongSupplier clock;
    private final Seal seal = new Seal(RoceV2.UDP_PORT, 0);
    // What the last receive gave out and the tap was not shown yet, and when that was.
    private Frame[] judging = new Frame[0];
    private int judgingCount;
    private long judgingNanos;
    private long malformedSeen;

    /// @param link closed with this one
    /// @param clock nanoseconds, monotonic
    public TapLink(Link link, Tap tap, LongSupplier clock) {
        super(link);
        this.tap = tap;
        this.clock = clock;
        this.malformedSeen = link.malformed();
    }

    /// This chain of links without the link that shows `tap`, which is shown what is left first. Called as
    /// [Link#receive].
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
            frames[from + i].fate = Frame.NO_FATE;
            judging[i] = frames[from + i];
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
            tap.onReceived(frame, frame.fate == Frame.NO_FATE ? null : FATES[frame.fate], judgingNanos);
        }
    }

    @Override
    public int transmit(Frame[] frames, int from, int count) {
        show();
        for (int i = from; i < from + count; i++) {
            frames[i].unsendable = false;
        }
        long now = clock.getAsLong(); // before, so that nothing is received before it was sent
        int taken = link.transmit(frames, from, count);
        for (int i = from; i < from + taken; i++) {
            Frame frame = frames[i];
            seal.sealWhereACopyWas(frame);
            if (frame.unsendable) {
                tap.onUnsendable(frame, now);
            } else {
                tap.onSent(frame, now);
            }
        }
        return taken;
    }

    /// As [Link#hasArrivals()]. The engine asks when it has judged what it received.
    @Override
    public boolean hasArrivals() {
        show();
        return link.hasArrivals();
    }

    @Override
    public boolean keepsTogether(Frame first, Frame next) {
        return link.keepsTogether(first, next);
    }

    @Override
    public void close() {
        show();
        super.close();
    }
}
