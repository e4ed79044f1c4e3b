package verbena.subnet;

import java.lang.foreign.MemorySegment;

/// A management datagram and the way that it takes.
///
/// @param mad [verbena.wire.mad.Mad#BYTES] of the receiver's own
public record Datagram(MadRoute route, MemorySegment mad) {}
