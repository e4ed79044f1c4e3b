package verbena.wire.ib;

import static verbena.wire.ib.Header.AETH;
import static verbena.wire.ib.Header.ATOMIC_ACK_ETH;
import static verbena.wire.ib.Header.ATOMIC_ETH;
import static verbena.wire.ib.Header.FETH;
import static verbena.wire.ib.Header.IETH;
import static verbena.wire.ib.Header.IMM_DT;
import static verbena.wire.ib.Header.RETH;
import static verbena.wire.ib.Payload.EIGHT;
import static verbena.wire.ib.Payload.FULL_MTU;
import static verbena.wire.ib.Payload.NONE;
import static verbena.wire.ib.Payload.ONE_TO_MTU;
import static verbena.wire.ib.Payload.SIXTEEN;
import static verbena.wire.ib.Payload.ZERO_TO_MTU;

import java.util.Set;

/// The request or response of a packet: the five low bits of an opcode, the same on every transport that has the
/// operation (IBTA 9.2.1, table 35; FLUSH and ATOMIC WRITE from annex A19).
public enum Operation {
    SEND_FIRST(0x00, FULL_MTU),
    SEND_MIDDLE(0x01, FULL_MTU),
    SEND_LAST(0x02, ONE_TO_MTU),
    SEND_LAST_IMMEDIATE(0x03, ONE_TO_MTU, IMM_DT),
    SEND_ONLY(0x04, ZERO_TO_MTU),
    SEND_ONLY_IMMEDIATE(0x05, ZERO_TO_MTU, IMM_DT),
    WRITE_FIRST(0x06, FULL_MTU, RETH),
    WRITE_MIDDLE(0x07, FULL_MTU),
    WRITE_LAST(0x08, ONE_TO_MTU),
    WRITE_LAST_IMMEDIATE(0x09, ONE_TO_MTU, IMM_DT),
    WRITE_ONLY(0x0A, ZERO_TO_MTU, RETH),
    WRITE_ONLY_IMMEDIATE(0x0B, ZERO_TO_MTU, RETH, IMM_DT),
    READ_REQUEST(0x0C, NONE, RETH),
    READ_RESPONSE_FIRST(0x0D, FULL_MTU, AETH),
    READ_RESPONSE_MIDDLE(0x0E, FULL_MTU),
    READ_RESPONSE_LAST(0x0F, ONE_TO_MTU, AETH),
    READ_RESPONSE_ONLY(0x10, ZERO_TO_MTU, AETH),
    /// An ACK, NAK or RNR NAK, as the AETH's syndrome shows.
    ACKNOWLEDGE(0x11, NONE, AETH),
    ATOMIC_ACKNOWLEDGE(0x12, NONE, AETH, ATOMIC_ACK_ETH),
    COMPARE_SWAP(0x13, NONE, ATOMIC_ETH),
    FETCH_ADD(0x14, NONE, ATOMIC_ETH),
    /// Reliable datagrams only.
    RESYNC(0x15, NONE),
    SEND_LAST_INVALIDATE(0x16, ONE_TO_MTU, IETH),
    SEND_ONLY_INVALIDATE(0x17, ZERO_TO_MTU, IETH),
    FLUSH(0x1C, NONE, FETH, RETH),
    ATOMIC_WRITE(0x1D, EIGHT, RETH),
    /// Congestion notification; its code means this under the prefix of [Transport#CNP] only.
    CONGESTION_NOTIFICATION(0x01, SIXTEEN),
    /// A NAK that names the packets which have come behind the missing one ([SelectiveAck]); under the prefix of
    /// [Transport#OWN] only.
    SELECTIVE_ACKNOWLEDGE(0x11, SIXTEEN, AETH);

    private final int code;
    private final Payload payload;

    @SuppressWarnings("ImmutableEnumChecker") // an unmodifiable set
    private final Set<Header> headers;

    Operation(int code, Payload payload, Header... headers) {
        this.code = code;
        this.payload = payload;
        this.headers = Set.of(headers);
    }

    /// Returns the five low bits of the opcode.
    public int code() {
        return code;
    }

    /// Returns the range of payload that its packets carry.
    public Payload payload() {
        return payload;
    }

    /// Returns the headers between those of the transport and the payload.
    public Set<Header> headers() {
        return headers;
    }

    /// Returns whether the packet travels from responder to requester.
    public boolean isResponse() {
        return (compareTo(READ_RESPONSE_FIRST) >= 0 && compareTo(ATOMIC_ACKNOWLEDGE) <= 0)
                || this == SELECTIVE_ACKNOWLEDGE;
    }

    public boolean isSend() {
        return compareTo(SEND_ONLY_IMMEDIATE) <= 0 || this == SEND_LAST_INVALIDATE || this == SEND_ONLY_INVALIDATE;
    }

    /// Returns whether the operation is part of an RDMA WRITE; an ATOMIC WRITE is none.
    public boolean isWrite() {
        return compareTo(WRITE_FIRST) >= 0 && compareTo(WRITE_ONLY_IMMEDIATE) <= 0;
    }

    public boolean isReadResponse() {
        return compareTo(READ_RESPONSE_FIRST) >= 0 && compareTo(READ_RESPONSE_ONLY) <= 0;
    }

    /// Returns whether the packet is the first of its message, or the only packet.
    public boolean startsMessage() {
        return switch (this) {
            case SEND_MIDDLE,
                    SEND_LAST,
                    SEND_LAST_IMMEDIATE,
                    SEND_LAST_INVALIDATE,
                    WRITE_MIDDLE,
                    WRITE_LAST,
                    WRITE_LAST_IMMEDIATE,
                    READ_RESPONSE_MIDDLE,
                    READ_RESPONSE_LAST -> false;
            default -> true;
        };
    }

    /// Returns whether the packet is the last of its message, or the only packet.
    public boolean endsMessage() {
        return payload != FULL_MTU;
    }
}
