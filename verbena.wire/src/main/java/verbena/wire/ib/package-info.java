/// InfiniBand transport packets: the opcode table, and every header as a view of static accessors over
/// `(MemorySegment segment, long offset)`.
///
/// A packet is checked once with [verbena.wire.ib.Packet#check(verbena.wire.Frame)]; from then on no getter of a
/// header that its opcode carries can fail. Offsets of headers come from [verbena.wire.ib.Opcode].
package verbena.wire.ib;
