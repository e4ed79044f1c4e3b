package verbena.wire.ib;

import static verbena.wire.ib.Header.AETH;
import static verbena.wire.ib.Header.ATOMIC_ACK_ETH;
import static verbena.wire.ib.Header.ATOMIC_ETH;
import static verbena.wire.ib.Header.DETH;
import static verbena.wire.ib.Header.FETH;
import static verbena.wire.ib.Header.IETH;
import static verbena.wire.ib.Header.IMM_DT;
import static verbena.wire.ib.Header.RETH;
import static verbena.wire.ib.Header.XRCETH;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Every packet opcode: a [Transport] and an [Operation], and all that follows from the two (IBTA 9.2.1, table 35).
///
/// Which headers a packet carries, where they lie and how long they are is computed here from the two tables;
/// nothing else in Verbena knows it. Offsets count bytes from the BTH; -1 says that the opcode has no such header.
public enum Opcode {
    RC_SEND_FIRST(Transport.RC, Operation.SEND_FIRST),
    RC_SEND_MIDDLE(Transport.RC, Operation.SEND_MIDDLE),
    RC_SEND_LAST(Transport.RC, Operation.SEND_LAST),
    RC_SEND_LAST_IMMEDIATE(Transport.RC, Operation.SEND_LAST_IMMEDIATE),
    RC_SEND_ONLY(Transport.RC, Operation.SEND_ONLY),
    RC_SEND_ONLY_IMMEDIATE(Transport.RC, Operation.SEND_ONLY_IMMEDIATE),
    RC_WRITE_FIRST(Transport.RC, Operation.WRITE_FIRST),
    RC_WRITE_MIDDLE(Transport.RC, Operation.WRITE_MIDDLE),
    RC_WRITE_LAST(Transport.RC, Operation.WRITE_LAST),
    RC_WRITE_LAST_IMMEDIATE(Transport.RC, Operation.WRITE_LAST_IMMEDIATE),
    RC_WRITE_ONLY(Transport.RC, Operation.WRITE_ONLY),
    RC_WRITE_ONLY_IMMEDIATE(Transport.RC, Operation.WRITE_ONLY_IMMEDIATE),
    RC_READ_REQUEST(Transport.RC, Operation.READ_REQUEST),
    RC_READ_RESPONSE_FIRST(Transport.RC, Operation.READ_RESPONSE_FIRST),
    RC_READ_RESPONSE_MIDDLE(Transport.RC, Operation.READ_RESPONSE_MIDDLE),
    RC_READ_RESPONSE_LAST(Transport.RC, Operation.READ_RESPONSE_LAST),
    RC_READ_RESPONSE_ONLY(Transport.RC, Operation.READ_RESPONSE_ONLY),
    RC_ACKNOWLEDGE(Transport.RC, Operation.ACKNOWLEDGE),
    RC_ATOMIC_ACKNOWLEDGE(Transport.RC, Operation.ATOMIC_ACKNOWLEDGE),
    RC_COMPARE_SWAP(Transport.RC, Operation.COMPARE_SWAP),
    RC_FETCH_ADD(Transport.RC, Operation.FETCH_ADD),
    RC_SEND_LAST_INVALIDATE(Transport.RC, Operation.SEND_LAST_INVALIDATE),
    RC_SEND_ONLY_INVALIDATE(Transport.RC, Operation.SEND_ONLY_INVALIDATE),
    RC_FLUSH(Transport.RC, Operation.FLUSH),
    RC_ATOMIC_WRITE(Transport.RC, Operation.ATOMIC_WRITE),
    UC_SEND_FIRST(Transport.UC, Operation.SEND_FIRST),
    UC_SEND_MIDDLE(Transport.UC, Operation.SEND_MIDDLE),
    UC_SEND_LAST(Transport.UC, Operation.SEND_LAST),
    UC_SEND_LAST_IMMEDIATE(Transport.UC, Operation.SEND_LAST_IMMEDIATE),
    UC_SEND_ONLY(Transport.UC, Operation.SEND_ONLY),
    UC_SEND_ONLY_IMMEDIATE(Transport.UC, Operation.SEND_ONLY_IMMEDIATE),
    UC_WRITE_FIRST(Transport.UC, Operation.WRITE_FIRST),
    UC_WRITE_MIDDLE(Transport.UC, Operation.WRITE_MIDDLE),
    UC_WRITE_LAST(Transport.UC, Operation.WRITE_LAST),
    UC_WRITE_LAST_IMMEDIATE(Transport.UC, Operation.WRITE_LAST_IMMEDIATE),
    UC_WRITE_ONLY(Transport.UC, Operation.WRITE_ONLY),
    UC_WRITE_ONLY_IMMEDIATE(Transport.UC, Operation.WRITE_ONLY_IMMEDIATE),
    RD_SEND_FIRST(Transport.RD, Operation.SEND_FIRST),
    RD_SEND_MIDDLE(Transport.RD, Operation.SEND_MIDDLE),
    RD_SEND_LAST(Transport.RD, Operation.SEND_LAST),
    RD_SEND_LAST_IMMEDIATE(Transport.RD, Operation.SEND_LAST_IMMEDIATE),
    RD_SEND_ONLY(Transport.RD, Operation.SEND_ONLY),
    RD_SEND_ONLY_IMMEDIATE(Transport.RD, Operation.SEND_ONLY_IMMEDIATE),
    RD_WRITE_FIRST(Transport.RD, Operation.WRITE_FIRST),
    RD_WRITE_MIDDLE(Transport.RD, Operation.WRITE_MIDDLE),
    RD_WRITE_LAST(Transport.RD, Operation.WRITE_LAST),
    RD_WRITE_LAST_IMMEDIATE(Transport.RD, Operation.WRITE_LAST_IMMEDIATE),
    RD_WRITE_ONLY(Transport.RD, Operation.WRITE_ONLY),
    RD_WRITE_ONLY_IMMEDIATE(Transport.RD, Operation.WRITE_ONLY_IMMEDIATE),
    RD_READ_REQUEST(Transport.RD, Operation.READ_REQUEST),
    RD_READ_RESPONSE_FIRST(Transport.RD, Operation.READ_RESPONSE_FIRST),
    RD_READ_RESPONSE_MIDDLE(Transport.RD, Operation.READ_RESPONSE_MIDDLE),
    RD_READ_RESPONSE_LAST(Transport.RD, Operation.READ_RESPONSE_LAST),
    RD_READ_RESPONSE_ONLY(Transport.RD, Operation.READ_RESPONSE_ONLY),
    RD_ACKNOWLEDGE(Transport.RD, Operation.ACKNOWLEDGE),
    RD_ATOMIC_ACKNOWLEDGE(Transport.RD, Operation.ATOMIC_ACKNOWLEDGE),
    RD_COMPARE_SWAP(Transport.RD, Operation.COMPARE_SWAP),
    RD_FETCH_ADD(Transport.RD, Operation.FETCH_ADD),
    RD_RESYNC(Transport.RD, Operation.RESYNC),
    UD_SEND_ONLY(Transport.UD, Operation.SEND_ONLY),
    UD_SEND_ONLY_IMMEDIATE(Transport.UD, Operation.SEND_ONLY_IMMEDIATE),
    CNP(Transport.CNP, Operation.CONGESTION_NOTIFICATION),
    XRC_SEND_FIRST(Transport.XRC, Operation.SEND_FIRST),
    XRC_SEND_MIDDLE(Transport.XRC, Operation.SEND_MIDDLE),
    XRC_SEND_LAST(Transport.XRC, Operation.SEND_LAST),
    XRC_SEND_LAST_IMMEDIATE(Transport.XRC, Operation.SEND_LAST_IMMEDIATE),
    XRC_SEND_ONLY(Transport.XRC, Operation.SEND_ONLY),
    XRC_SEND_ONLY_IMMEDIATE(Transport.XRC, Operation.SEND_ONLY_IMMEDIATE),
    XRC_WRITE_FIRST(Transport.XRC, Operation.WRITE_FIRST),
    XRC_WRITE_MIDDLE(Transport.XRC, Operation.WRITE_MIDDLE),
    XRC_WRITE_LAST(Transport.XRC, Operation.WRITE_LAST),
    XRC_WRITE_LAST_IMMEDIATE(Transport.XRC, Operation.WRITE_LAST_IMMEDIATE),
    XRC_WRITE_ONLY(Transport.XRC, Operation.WRITE_ONLY),
    XRC_WRITE_ONLY_IMMEDIATE(Transport.XRC, Operation.WRITE_ONLY_IMMEDIATE),
    XRC_READ_REQUEST(Transport.XRC, Operation.READ_REQUEST),
    XRC_READ_RESPONSE_FIRST(Transport.XRC, Operation.READ_RESPONSE_FIRST),
    XRC_READ_RESPONSE_MIDDLE(Transport.XRC, Operation.READ_RESPONSE_MIDDLE),
    XRC_READ_RESPONSE_LAST(Transport.XRC, Operation.READ_RESPONSE_LAST),
    XRC_READ_RESPONSE_ONLY(Transport.XRC, Operation.READ_RESPONSE_ONLY),
    XRC_ACKNOWLEDGE(Transport.XRC, Operation.ACKNOWLEDGE),
    XRC_ATOMIC_ACKNOWLEDGE(Transport.XRC, Operation.ATOMIC_ACKNOWLEDGE),
    XRC_COMPARE_SWAP(Transport.XRC, Operation.COMPARE_SWAP),
    XRC_FETCH_ADD(Transport.XRC, Operation.FETCH_ADD),
    XRC_SEND_LAST_INVALIDATE(Transport.XRC, Operation.SEND_LAST_INVALIDATE),
    XRC_SEND_ONLY_INVALIDATE(Transport.XRC, Operation.SEND_ONLY_INVALIDATE),
    /// The selective acknowledgement of reliable connections between two Verbena ends.
    SELECTIVE_ACK(Transport.OWN, Operation.SELECTIVE_ACKNOWLEDGE);

    private static final @Nullable Opcode[] BY_CODE = new @Nullable Opcode[256];

    static {
        for (Opcode opcode : values()) {
            BY_CODE[opcode.code] = opcode;
        }
    }

    private final Transport transport;
    private final Operation operation;
    private final int code;

    @SuppressWarnings("ImmutableEnumChecker") // an unmodifiable set
    private final Set<Header> headers;

    private final int headerBytes;

    @SuppressWarnings("ImmutableEnumChecker") // filled in the constructor, never handed out
    private final byte[] offsets = new byte[Header.values().length];

    private final boolean isResponse;
    private final boolean isSend;
    private final boolean isWrite;
    private final boolean isReadResponse;
    private final boolean startsMessage;
    private final boolean endsMessage;

    Opcode(Transport transport, Operation operation) {
        this.transport = transport;
        this.operation = operation;
        this.code = transport.prefix() | operation.code();
        var headers = EnumSet.of(Header.BTH);
        headers.addAll(transport.headersOf(operation));
        headers.addAll(operation.headers());
        int bytes = 0;
        for (Header header : Header.values()) {
            boolean present = headers.contains(header);
            offsets[header.ordinal()] = (byte) (present ? bytes : -1);
            bytes += present ? header.bytes() : 0;
        }
        this.headers = Collections.unmodifiableSet(headers);
        this.headerBytes = bytes;
        this.isResponse = operation.isResponse();
        this.isSend = operation.isSend();
        this.isWrite = operation.isWrite();
        this.isReadResponse = operation.isReadResponse();
        this.startsMessage = operation.startsMessage();
        this.endsMessage = operation.endsMessage();
    }

    /// Returns the opcode with this number, the first byte of a BTH, or null when it is undefined.
    public static @Nullable Opcode of(int code) {
        return BY_CODE[code & 0xFF];
    }

    /// Returns the opcode of an operation on a transport.
    ///
    /// @throws IllegalArgumentException when the transport does not have the operation
    public static Opcode of(Transport transport, Operation operation) {
        Opcode opcode = BY_CODE[transport.prefix() | operation.code()];
        if (opcode == null || opcode.operation != operation) {
            throw new IllegalArgumentException(transport + " has no " + operation);
        }
        return opcode;
    }

    /// Returns the number on the wire, `0..255`.
    public int code() {
        return code;
    }

    public Transport transport() {
        return transport;
    }

    /// Returns the operation, which is the same for every transport.
    public Operation operation() {
        return operation;
    }

    /// Returns the headers that a packet with the opcode carries, the BTH first, in wire order.
    public Set<Header> headers() {
        return headers;
    }

    /// Returns the number of bytes before the payload, BTH included.
    public int headerBytes() {
        return headerBytes;
    }

    /// Returns the range of payload that a packet with the opcode carries.
    public Payload payload() {
        return operation.payload();
    }

    /// Returns the offset of `header` in bytes from the BTH, or -1.
    public int offset(Header header) {
        return offsets[header.ordinal()];
    }

    public int dethOffset() {
        return offset(DETH);
    }

    public int xrcEthOffset() {
        return offset(XRCETH);
    }

    public int fethOffset() {
        return offset(FETH);
    }

    public int rethOffset() {
        return offset(RETH);
    }

    public int atomicEthOffset() {
        return offset(ATOMIC_ETH);
    }

    public int aethOffset() {
        return offset(AETH);
    }

    public int atomicAckEthOffset() {
        return offset(ATOMIC_ACK_ETH);
    }

    public int immediateOffset() {
        return offset(IMM_DT);
    }

    public int iethOffset() {
        return offset(IETH);
    }

    /// Returns whether the packet travels from requester to responder. A CNP is neither request nor response.
    public boolean isRequest() {
        return !isResponse && this != CNP;
    }

    /// Returns whether the packet travels from responder to requester.
    public boolean isResponse() {
        return isResponse;
    }

    /// Returns whether the packet is the first of its message, or the only packet.
    public boolean startsMessage() {
        return startsMessage;
    }

    /// Returns whether the packet is the last of its message, or the only packet.
    public boolean endsMessage() {
        return endsMessage;
    }

    public boolean isSend() {
        return isSend;
    }

    /// Returns whether the packet is part of an RDMA WRITE; an ATOMIC WRITE is none.
    public boolean isWrite() {
        return isWrite;
    }

    /// Returns whether the opcode is a READ request.
    public boolean isRead() {
        return operation == Operation.READ_REQUEST;
    }

    public boolean isReadResponse() {
        return isReadResponse;
    }

    /// Returns whether the opcode is a COMPARE_SWAP or FETCH_ADD request.
    public boolean isAtomic() {
        return atomicEthOffset() >= 0;
    }

    public boolean isAtomicWrite() {
        return operation == Operation.ATOMIC_WRITE;
    }

    public boolean isFlush() {
        return operation == Operation.FLUSH;
    }

    public boolean hasImmediate() {
        return immediateOffset() >= 0;
    }

    public boolean hasInvalidate() {
        return iethOffset() >= 0;
    }

    /// Returns whether a packet with the opcode can carry payload.
    public boolean hasPayload() {
        return operation.payload() != Payload.NONE;
    }
}
