package verbena.transport.queue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.transport.memory.Region;
import verbena.transport.memory.ScatterList;
import verbena.transport.memory.Window;
import verbena.verbs.WcStatus;
import verbena.verbs.spi.SendOperation;
import verbena.wire.DirectMessage;

/// A slot of a send queue: one work request, written in place by the poster and then owned by the engine until it
/// is retired.
public final class SendRequest {
    // Written by the poster.
    public SendOperation operation = SendOperation.SEND;
    public long wrId;
    public boolean signaled;
    public boolean fenced;
    public boolean solicited;
    /// Immediate data, or the key to invalidate.
    public int immediateOrKey;
    public long remoteAddress;
    public int rkey;
    /// FETCH_ADD: what to add. CMP_SWAP: what to compare with. ATOMIC_WRITE: the value.
    public long operand;
    /// CMP_SWAP: what to put in.
    public long swap;
    /// FLUSH: bytes of the range, and the fields of the FETH.
    public int flushBytes;
    public int flushSelectivity;
    public int flushPlacement;

    // A datagram's; null and 0 for a connection.
    public @Nullable Path path;
    public int destinationQpn;
    public int qkey;

    /// XRC: the peer's shared receive queue that it is for; -1 when none is named.
    public int srqNumber;

    public final ScatterList scatter;
    /// The memory of inline data, of which the first [#inlineBytes] count.
    public final MemorySegment inline;
    public int inlineBytes;
    /// Whether the data is inline rather than in the scatter list.
    public boolean isInline;

    // BIND_WINDOW
    public @Nullable Window window;
    public @Nullable Region windowRegion;
    public long windowAddress;
    public long windowBytes;
    public int windowAccess;

    // Owned by the engine.
    /// PSN of its first packet; valid once started.
    public int firstPsn;
    /// The number of PSNs that it takes.
    public int psnCount;
    /// The number of PSNs that a single READ request asks for.
    public int piecePsns;
    /// The error of a request that failed on this side, reported once all before it are done. The poster sets it
    /// for a faulty request.
    public @Nullable WcStatus localError;
    public String localCause = "";

    SendRequest(int maxSge, MemorySegment inline) {
        this.scatter = new ScatterList(maxSge);
        this.inline = inline;
    }

    /// Makes a request without data that lies in no queue.
    public static SendRequest ofNoBytes(SendOperation operation) {
        var request = new SendRequest(0, MemorySegment.NULL);
        request.begin(operation, 0);
        return request;
    }

    /// Makes a request with room for inline data, or for one entry of a scatter list, that lies in no queue.
    public static SendRequest ofInline(int bytesMax) {
        return new SendRequest(1, Arena.ofAuto().allocate(bytesMax));
    }

    /// Returns the bytes of the message, or of the memory read.
    public long bytes() {
        return isInline ? inlineBytes : scatter.bytes;
    }

    /// Returns the bytes of memory that leave with it: none when the peer's memory is read.
    public long departingBytes() {
        return operation == SendOperation.READ ? 0 : bytes();
    }

    /// Returns whether it reads or changes memory of the peer without notifying the peer, so that a device that
    /// reaches that memory can carry it out. A request of no bytes needs no key, and asks whether the peer takes
    /// it:
    /// only the peer knows.
    public boolean isOneSided() {
        return switch (operation) {
            case WRITE, READ, FETCH_ADD, COMPARE_SWAP -> bytes() != 0;
            case ATOMIC_WRITE -> true;
            case SEND,
                    SEND_WITH_IMMEDIATE,
                    SEND_WITH_INVALIDATE,
                    WRITE_WITH_IMMEDIATE,
                    FLUSH,
                    LOCAL_INVALIDATE,
                    BIND_WINDOW,
                    FAULTY -> false;
        };
    }

    /// Returns whether a device on the peer's host may need no packets for it.
    public boolean mayNeedNoPackets() {
        return switch (operation) {
            case SEND, SEND_WITH_IMMEDIATE -> bytes() <= DirectMessage.DATA_MAX;
            case WRITE_WITH_IMMEDIATE -> true;
            default -> isOneSided();
        };
    }

    /// Describes the request in words, for a person who looks for a mistake in it.
    public String describe() {
        return switch (operation) {
            case SEND, SEND_WITH_IMMEDIATE -> operation + " of " + bytes() + " bytes";
            case SEND_WITH_INVALIDATE -> operation + " of " + bytes() + " bytes, key 0x" + hex(immediateOrKey);
            case WRITE, WRITE_WITH_IMMEDIATE, READ, FETCH_ADD, COMPARE_SWAP, ATOMIC_WRITE ->
                operation + " of " + bytes() + " bytes at 0x" + Long.toHexString(remoteAddress) + " with rkey 0x"
                        + hex(rkey);
            case FLUSH ->
                operation + " of " + flushBytes + " bytes at 0x" + Long.toHexString(remoteAddress) + " with rkey 0x"
                        + hex(rkey);
            case LOCAL_INVALIDATE -> operation + " of key 0x" + hex(immediateOrKey);
            case FAULTY -> "faulty request";
            case BIND_WINDOW -> operation + " to " + windowBytes + " bytes at 0x" + Long.toHexString(windowAddress);
        };
    }

    /// Makes the request fail; called by the poster.
    public void fail(WcStatus status, String cause) {
        boolean wasSignaled = signaled;
        begin(SendOperation.FAULTY, wrId);
        signaled = wasSignaled;
        localError = status;
        localCause = cause;
    }

    private static String hex(int key) {
        return Integer.toHexString(key);
    }

    /// Begins a new request in this slot; called by the poster.
    public void begin(SendOperation operation, long wrId) {
        this.operation = operation;
        this.wrId = wrId;
        signaled = false;
        fenced = false;
        solicited = false;
        immediateOrKey = 0;
        remoteAddress = 0;
        rkey = 0;
        operand = 0;
        swap = 0;
        flushBytes = 0;
        flushSelectivity = 0;
        flushPlacement = 0;
        path = null;
        destinationQpn = 0;
        qkey = 0;
        srqNumber = -1;
        scatter.clear();
        isInline = false;
        inlineBytes = 0;
        window = null;
        windowRegion = null;
        localError = null;
        localCause = "";
    }

    /// Returns the number of PSNs that packet `index` takes: for a READ or atomic as many as it asks for, to the
    /// end of its piece.
    public int psns(int index) {
        return operation.needsResponse() ? Math.min(psnCount - index, piecePsns - index % piecePsns) : 1;
    }
}
