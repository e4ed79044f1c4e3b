package verbena.nic.link.ethernet;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Map;
import verbena.verbs.Gid;
import verbena.wire.Frame;

/// Moves whole Ethernet frames, from the destination address to the last byte before the check sequence, and
/// knows nothing of what is in them. An [EthernetLink] stands above it.
///
/// Threads as in [verbena.nic.link.Link]: one moves frames, another may wait for [#descriptor()] meanwhile.
public interface Wire extends AutoCloseable {
    /// See [verbena.nic.link.Claimable#claim()].
    default void claim() {}

    // ---- arrivals

    /// Takes the next arrival, which the following methods describe; false when there is none. An arrival stays
    /// where it is until [#release()].
    boolean next();

    /// The memory that arrivals lie in, always the same; the [Frame#HEADROOM] bytes before a packet may be
    /// overwritten.
    MemorySegment memory();

    /// The same memory, little-endian.
    ByteBuffer bytes();

    /// Where the arrival begins.
    int start();

    /// How many bytes it had.
    int length();

    /// How many of them are there: fewer than it had when it was too large for the wire's memory.
    int kept();

    /// The VLAN tag that the system has taken out of it, 16 bits; [verbena.wire.roce.Ethernet#NO_TAG] when
    /// there is none, or it is still in its place.
    int tag();

    /// Whether [#next()] would find something.
    boolean hasNext();

    /// Gives the memory of all arrivals back that were taken.
    void release();

    // ---- departures

    /// How many frames [#put] takes before [#transmit()].
    int batch();

    /// Adds a frame to those that leave next: the packet, and the bytes of headers right before it. It does not
    /// change until then.
    void put(Frame frame, int headerBytes);

    /// Sends what was put, in order, and forgets it; returns how many frames were taken. Fewer means that there
    /// is no room. A frame that can never be sent is marked ([Frame#marks]), counted ([#refused()]) and
    /// treated as taken.
    int transmit();

    /// Whether there was no room since the last call, so that a sleep has to end when there is. The thread that
    /// sleeps.
    boolean wasFull();

    /// How many frames could never be sent, since creation. Any thread.
    long refused();

    // ---- groups, and the rest

    /// Receives frames to a group's address from now on. The wire may receive them anyway.
    ///
    /// @param mac the group's address on Ethernet
    /// @throws verbena.nic.link.LinkException when the system does not permit it
    void join(Gid group, long mac);

    /// Ends that.
    void leave(Gid group, long mac);

    /// Readable when a frame has arrived and none of those that were taken is still held.
    int descriptor();

    /// The wire's own counters since its creation, by name. Any thread.
    Map<String, Long> counters();

    @Override
    void close();
}
