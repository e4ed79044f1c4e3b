package verbena.transport;

import verbena.wire.Frame;
import verbena.wire.ib.AtomicEth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Reth;

/// The message that a connection is receiving: the headers of its first packet, and how much of it has been placed.
/// Engine-confined.
public final class InboundMessage {
    /// The kind of message that a Middle or Last packet may continue.
    private enum Kind {
        /// No message is open.
        NONE,
        SEND,
        WRITE
    }

    private Kind kind = Kind.NONE;
    private long placed;
    // What the RETH or the AtomicETH has said; 0 for a SEND.
    private long address;
    private long bytes;
    private int rkey;

    /// Begins without an open message.
    public InboundMessage() {}

    /// Begins a message with its First or Only packet. The message is open when its packet has been placed
    /// ([#place]), not before: a packet that is answered with an RNR NAK comes again.
    public void begin(Frame frame, Opcode opcode) {
        assert kind == Kind.NONE : "one message at a time";
        placed = 0;
        address = 0;
        bytes = 0;
        rkey = 0;
        if (opcode.rethOffset() >= 0) {
            int reth = frame.start + opcode.rethOffset();
            address = Reth.virtualAddress(frame.slot, reth);
            rkey = Reth.rkey(frame.slot, reth);
            bytes = Reth.dmaLength(frame.slot, reth);
        } else if (opcode.atomicEthOffset() >= 0) {
            int eth = frame.start + opcode.atomicEthOffset();
            address = AtomicEth.virtualAddress(frame.slot, eth);
            rkey = AtomicEth.rkey(frame.slot, eth);
            bytes = Long.BYTES;
        }
    }

    /// Returns whether a packet of this opcode may come now (IBTA 9.7.4.1): First and Only begin a message when
    /// none is open; Middle and Last continue a message of their kind.
    public boolean fits(Opcode opcode) {
        return opcode.startsMessage() ? kind == Kind.NONE : kind == kindOf(opcode);
    }

    /// Returns whether a message has begun and not ended.
    public boolean isOpen() {
        return kind != Kind.NONE;
    }

    private static Kind kindOf(Opcode opcode) {
        return opcode.isSend() ? Kind.SEND : Kind.WRITE;
    }

    /// Counts the payload of one packet, which is in its place.
    public void place(Opcode opcode, int payloadBytes) {
        placed += payloadBytes;
        kind = opcode.endsMessage() ? Kind.NONE : kindOf(opcode);
        assert opcode.isSend() || placed <= bytes : "no more than the RETH has said";
    }

    /// Forgets the message.
    public void end() {
        kind = Kind.NONE;
    }

    /// Returns the address of the first byte, as the peer names it.
    public long address() {
        return address;
    }

    /// Returns the key of that memory.
    public int rkey() {
        return rkey;
    }

    /// Returns the length of the message, or of the memory that it asks for; unknown, and 0, for a SEND.
    public long bytes() {
        return bytes;
    }

    /// Returns the number of bytes that are in their place.
    public long placed() {
        return placed;
    }

    /// Returns the number of bytes of a WRITE that are still to come.
    public long left() {
        return bytes - placed;
    }
}
