package verbena.wire.iwarp;

import org.jspecify.annotations.Nullable;

/// The messages of RDMAP: how each travels (RFC 5040 4.3, RFC 7306 4).
public enum RdmapOpcode {
    WRITE(0x0, -1),
    READ_REQUEST(0x1, Ddp.QUEUE_REQUEST),
    READ_RESPONSE(0x2, -1),
    SEND(0x3, Ddp.QUEUE_SEND),
    SEND_INVALIDATE(0x4, Ddp.QUEUE_SEND),
    SEND_SOLICITED(0x5, Ddp.QUEUE_SEND),
    SEND_SOLICITED_INVALIDATE(0x6, Ddp.QUEUE_SEND),
    TERMINATE(0x7, Ddp.QUEUE_TERMINATE),
    IMMEDIATE(0x8, Ddp.QUEUE_SEND),
    IMMEDIATE_SOLICITED(0x9, Ddp.QUEUE_SEND),
    ATOMIC_REQUEST(0xA, Ddp.QUEUE_REQUEST),
    ATOMIC_RESPONSE(0xB, Ddp.QUEUE_ATOMIC_RESPONSE);

    private static final RdmapOpcode[] BY_CODE = values();

    private final int code;
    private final int queue;

    RdmapOpcode(int code, int queue) {
        this.code = code;
        this.queue = queue;
    }

    /// Returns the opcode of this number; null when there is none.
    public static @Nullable RdmapOpcode of(int code) {
        return code < BY_CODE.length ? BY_CODE[code] : null;
    }

    /// Returns the opcode's number, 4 bits.
    public int code() {
        return code;
    }

    /// Returns whether the message travels in tagged segments.
    public boolean isTagged() {
        return queue < 0;
    }

    /// Returns the queue of an opcode of untagged segments.
    public int queue() {
        return queue;
    }

    /// Returns the number of bytes of the header of its segments.
    public int headerBytes() {
        return isTagged() ? Ddp.TAGGED_BYTES : Ddp.UNTAGGED_BYTES;
    }

    public boolean isSend() {
        return code >= SEND.code && code <= SEND_SOLICITED_INVALIDATE.code;
    }

    /// Returns whether the message is immediate data, of either kind.
    public boolean isImmediate() {
        return this == IMMEDIATE || this == IMMEDIATE_SOLICITED;
    }

    public boolean hasInvalidate() {
        return this == SEND_INVALIDATE || this == SEND_SOLICITED_INVALIDATE;
    }

    /// Returns whether the receiver is to raise a solicited event.
    public boolean isSolicited() {
        return this == SEND_SOLICITED || this == SEND_SOLICITED_INVALIDATE || this == IMMEDIATE_SOLICITED;
    }
}
