package verbena.nic.link.shm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import verbena.foreign.linux.DescriptorMessages;
import verbena.foreign.linux.LinuxAbi;
import verbena.nic.link.Envelope;
import verbena.nic.link.FrameRing;
import verbena.nic.link.Link;
import verbena.nic.link.sharing.Neighbours;
import verbena.wire.Frame;

/// The messages of links of one host over their sockets. A message begins with its kind, in 8 bytes; a descriptor
/// may come with it. What arrives may be anything.
///
/// For one thread at a time.
final class ShmMessages {
    // Kinds of messages; the first two are those of [Envelope].
    static final int PACKET = Envelope.PACKET;
    static final int HELLO = Envelope.HELLO;
    /// The kind of a message with the file that the sender has made for its neighbour.
    static final int FILE = 16;
    /// The kind of a message with the event counter that wakes the sender.
    static final int BELL = 17;
    /// The kind of a message that wakes a link that has sent no bell yet.
    static final int WAKE = 18;
    /// The kind of a message of one listener to the other ([Neighbours#tell]).
    static final int TOLD = 19;
    /// The kind of a message with the descriptor that hangs up when the sender's process dies.
    static final int LIFELINE = 20;

    /// The place where the content of a message begins.
    static final int CONTENT = 8;

    private static final int MESSAGE_BYTES = CONTENT + (int) FrameRing.recordBytes(Frame.PACKET_MAX);

    private final DescriptorMessages messages;
    private final MemorySegment arrived;
    private final MemorySegment leaving;

    ShmMessages(Arena arena) {
        messages = new DescriptorMessages(arena);
        arrived = arena.allocate(MESSAGE_BYTES, 8);
        leaving = arena.allocate(MESSAGE_BYTES, 8);
    }

    // --- departures; false when there is no room, or no process at the other end

    /// Sends a kind with no content.
    ///
    /// @param descriptor of which the neighbour gets a copy; -1 for none
    boolean send(int fd, int kind, int descriptor) {
        leaving.set(JAVA_LONG, 0, kind);
        return put(fd, 0, descriptor);
    }

    boolean sendHello(int fd, int slot) {
        Envelope.putHello(leaving, slot);
        return put(fd, 0, -1);
    }

    boolean sendTold(int fd, MemorySegment told, int descriptor) {
        leaving.set(JAVA_LONG, 0, TOLD);
        MemorySegment.copy(told, 0, leaving, CONTENT, told.byteSize());
        return put(fd, told.byteSize(), descriptor);
    }

    boolean sendFrame(int fd, Frame frame) {
        leaving.set(JAVA_LONG, 0, PACKET);
        FrameRing.write(frame, leaving, CONTENT);
        return put(fd, FrameRing.recordBytes(frame.length), -1);
    }

    private boolean put(int fd, long contentBytes, int descriptor) {
        return messages.send(fd, leaving.asSlice(0, CONTENT + contentBytes), descriptor) >= 0;
    }

    // --- arrivals

    /// Reads the next message; returns its length, 0 when there is none now, a negative number at the end.
    int receive(int fd) {
        int length = messages.receive(fd, arrived);
        if (length == -LinuxAbi.EAGAIN) {
            return 0;
        }
        return length == 0 ? -1 : length;
    }

    /// Returns the descriptor that came with the last message, which the caller has to close; -1 for none.
    int descriptor() {
        return messages.descriptor();
    }

    int kind() {
        return arrived.get(JAVA_BYTE, 0);
    }

    int helloSlot() {
        return Envelope.helloSlot(arrived);
    }

    /// Returns a copy of the message for the listener.
    MemorySegment told(int length) {
        long bytes = Math.min(length - CONTENT, Neighbours.MESSAGE_MAX);
        return MemorySegment.ofArray(arrived.asSlice(CONTENT, bytes).toArray(JAVA_BYTE));
    }

    /// Reads the frame of a message of `length` bytes; false when it holds none.
    boolean readFrame(int messageLength, Frame frame) {
        int length = arrived.get(JAVA_INT, CONTENT);
        if (length < Link.PACKET_MIN
                || length > Frame.PACKET_MAX
                || CONTENT + FrameRing.recordBytes(length) > messageLength) {
            return false;
        }
        FrameRing.read(frame, arrived, CONTENT, length);
        return true;
    }
}
