package verbena.transport;

import verbena.wire.Frame;
import verbena.wire.ib.AtomicEth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Reth;

/// The message that a connection is receiving: what its first packet has said, and how much of it has been placed.
/// Engine-confined.
public final class InboundMessage {
    /// What a Middle or Last packet may continue.
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

    /// No message is open.
    public InboundMessage() {}

    /// A First or Only packet has come. The message is open when its packet has been placed ([#place]), not before:
    /// one that is answered with an RNR NAK comes again.
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

    /// Whether a packet of this opcode may come now (IBTA 9.7.4.1): First and Only begin a message when none is
    /// open; Middle and Last continue one of their kind.
    public boolean fits(Opcode opcode) {
        return opcode.startsMessage() ? kind == Kind.NONE : kind == kindOf(opcode);
    }

    /// Whether a message has begun and not ended.
    public boolean isOpen() {
        return kind != Kind.NONE;
    }

    private static Kind kindOf(Opcode opcode) {
        return opcode.isSend() ? Kind.SEND : Kind.WRITE;
    }

    /// The payload of one packet is in its place.
    public void place(Opcode opcode, int payloadBytes) {
        placed += payloadBytes;
        kind = opcode.endsMessage() ? Kind.NONE : kindOf(opcode);
        assert opcode.isSend() || placed <= bytes : "no more than the RETH has said";
    }

    /// Forgets the message.
    public void end() {
        kind = Kind.NONE;
    }

    /// The address of its first byte, as the peer names it.
    public long address() {
        return address;
    }

    /// The key of that memory.
    public int rkey() {
        return rkey;
    }

    /// How long it is, or how much memory it asks for; unknown, and 0, for a SEND.
    public long bytes() {
        return bytes;
    }

    /// Bytes that are in their place.
    public long placed() {
        return placed;
    }

    /// Bytes that are still to come, of a WRITE.
    public long left() {
        return bytes - placed;
    }
}
