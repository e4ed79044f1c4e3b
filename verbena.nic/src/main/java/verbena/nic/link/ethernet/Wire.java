package verbena.nic.link.ethernet;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Map;
import verbena.verbs.Gid;
import verbena.wire.Frame;

/// A carrier of whole Ethernet frames, from the destination address to the last byte before the check sequence. It
/// does not know their contents. An [EthernetLink] stands above it.
///
/// Threads as in [verbena.nic.link.Link]: one moves frames, another may wait for [#descriptor()] meanwhile.
public interface Wire extends AutoCloseable {
    /// Implements [verbena.nic.link.Claimable#claim()].
    default void claim() {}

    // ---- arrivals

    /// Takes the next arrival, which the following methods describe; false when there is none. An arrival stays
    /// where it is until [#release()].
    boolean next();

    /// Returns the memory that arrivals lie in, always the same; the [Frame#HEADROOM] bytes before a packet may be
    /// overwritten.
    MemorySegment memory();

    /// Returns the same memory, little-endian.
    ByteBuffer bytes();

    /// Returns the place where the arrival begins.
    int start();

    /// Returns the number of bytes that the arrival had.
    int length();

    /// Returns the number of these bytes that are in memory: fewer when the arrival was too large for the wire's
    /// memory.
    int kept();

    /// Returns the VLAN tag that the system has taken out of it, 16 bits; [verbena.wire.roce.Ethernet#NO_TAG] when
    /// there is none, or it is still in its place.
    int tag();

    /// Returns whether [#next()] would find something.
    boolean hasNext();

    /// Gives the memory of all arrivals back that were taken.
    void release();

    // ---- departures

    /// Returns how many frames [#put] takes before [#transmit()].
    int batch();

    /// Adds a frame to those that leave next: the packet, and the bytes of headers right before it. It does not
    /// change until then.
    void put(Frame frame, int headerBytes);

    /// Sends what was put, in order, and forgets it; returns how many frames were taken. Fewer means that there
    /// is no room. A frame that can never be sent is marked ([Frame#marks]), counted ([#refused()]) and
    /// treated as taken.
    int transmit();

    /// Returns whether there was no room since the last call, so that a sleep has to end when there is room. The
    /// thread that sleeps.
    boolean wasFull();

    /// Returns how many frames could never be sent, since creation. Any thread.
    long refused();

    // ---- groups, and the rest

    /// Receives frames to a group's address from now on. The wire may receive them anyway.
    ///
    /// @param mac the group's address on Ethernet
    /// @throws verbena.nic.link.LinkException when the system does not permit it
    void join(Gid group, long mac);

    /// Stops receiving frames to a group's address.
    void leave(Gid group, long mac);

    /// Returns a descriptor that is readable when a frame has arrived and no taken frame is still held.
    int descriptor();

    /// Returns the wire's own counters since its creation, by name. Any thread.
    Map<String, Long> counters();

    @Override
    void close();
}
