package verbena.nic.link;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;
import verbena.wire.Frame;

/// The messages that links at one address exchange ([verbena.nic.link.sharing.PeerSockets]). A message is a packet,
/// with the facts that only the socket knew, or a word between neighbours. All fields are in native order, because
/// an envelope does not leave the host.
///
/// | byte | packet | hello | located |
/// |---|---|---|---|
/// | 0 | kind | kind | kind |
/// | 1 | traffic class | sender's slot | sender's slot |
/// | 2 | hop limit | | index in the kernel's group |
/// | 4 | source port | | |
/// | 8, 16 | source GID | | at 8, cookie |
///
/// An envelope stands before its packet in the frame's headroom, so that both travel in one piece.
public final class Envelope {
    /// The number of bytes before the packet.
    public static final int BYTES = 24;
    /// The position of the envelope in a frame's slot.
    public static final int START = Frame.HEADROOM - BYTES;

    /// The kind of a message that is no envelope.
    public static final int NONE = 0;
    /// A packet.
    public static final int PACKET = 1;
    /// The first message of a link that has connected.
    public static final int HELLO = 2;
    /// The answer to a probe ([verbena.nic.link.sharing.Steering]).
    public static final int LOCATED = 3;

    private static final int SLOT = 1;
    private static final int INDEX = 2;
    private static final int COOKIE = 8;

    private static final int TRAFFIC_CLASS = START + 1;
    private static final int HOP_LIMIT = START + 2;
    private static final int SOURCE_PORT = START + 4;
    private static final int SOURCE_HIGH = START + 8;
    private static final int SOURCE_LOW = START + 16;

    private Envelope() {}

    /// Writes the envelope of a frame's packet before it.
    public static void seal(Frame frame) {
        assert frame.isOwn() : "what stands before the packet is another packet";
        frame.slot.set(JAVA_BYTE, START, (byte) PACKET);
        frame.slot.set(JAVA_BYTE, TRAFFIC_CLASS, (byte) frame.trafficClass);
        frame.slot.set(JAVA_BYTE, HOP_LIMIT, (byte) frame.hopLimit);
        frame.slot.set(JAVA_SHORT, SOURCE_PORT, (short) frame.sourcePort);
        frame.slot.set(JAVA_LONG, SOURCE_HIGH, frame.sourceHigh);
        frame.slot.set(JAVA_LONG, SOURCE_LOW, frame.sourceLow);
    }

    /// Reads the envelope before a frame's packet into the frame.
    public static void open(Frame frame) {
        assert frame.isOwn();
        frame.trafficClass = frame.slot.get(JAVA_BYTE, TRAFFIC_CLASS) & 0xFF;
        frame.hopLimit = frame.slot.get(JAVA_BYTE, HOP_LIMIT) & 0xFF;
        frame.sourcePort = frame.slot.get(JAVA_SHORT, SOURCE_PORT) & 0xFFFF;
        frame.sourceHigh = frame.slot.get(JAVA_LONG, SOURCE_HIGH);
        frame.sourceLow = frame.slot.get(JAVA_LONG, SOURCE_LOW);
    }

    /// Returns the kind of the message in a frame's slot.
    public static int kind(Frame frame) {
        return frame.slot.get(JAVA_BYTE, START);
    }

    public static void putHello(MemorySegment to, int slot) {
        to.set(JAVA_BYTE, 0, (byte) HELLO);
        to.set(JAVA_BYTE, SLOT, (byte) slot);
    }

    /// Returns the slot of the sender of a hello; [Carrier#NO_SLOT] when the message is not a hello.
    public static int helloSlot(MemorySegment word) {
        return word.get(JAVA_BYTE, 0) == HELLO ? word.get(JAVA_BYTE, SLOT) & 0xFF : Carrier.NO_SLOT;
    }

    public static void putLocated(MemorySegment to, int slot, int index, long cookie) {
        to.set(JAVA_BYTE, 0, (byte) LOCATED);
        to.set(JAVA_BYTE, SLOT, (byte) slot);
        to.set(JAVA_BYTE, INDEX, (byte) index);
        to.set(JAVA_LONG, COOKIE, cookie);
    }

    public static int slot(Frame frame) {
        return frame.slot.get(JAVA_BYTE, START + SLOT) & 0xFF;
    }

    public static int index(Frame frame) {
        return frame.slot.get(JAVA_BYTE, START + INDEX) & 0xFF;
    }

    public static long cookie(Frame frame) {
        return frame.slot.get(JAVA_LONG, START + COOKIE);
    }
}
