package verbena.subnet;

import java.lang.foreign.MemorySegment;

/// A management datagram and its route.
///
/// @param mad [verbena.wire.mad.Mad#BYTES] of the receiver's own
public record Datagram(MadRoute route, MemorySegment mad) {}
