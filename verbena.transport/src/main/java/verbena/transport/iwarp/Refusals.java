package verbena.transport.iwarp;

import verbena.transport.memory.MemoryVerdict;
import verbena.verbs.WcStatus;
import verbena.wire.iwarp.AtomicRequest;
import verbena.wire.iwarp.ReadRequest;
import verbena.wire.iwarp.TerminateCode;

/// Refuses the segment that is arriving: the TERMINATE shows its headers. Every method returns false, which the
/// failed check then returns. Engine-confined.
final class Refusals {
    private final Termination termination;
    private final OutstandingRequests outstanding;
    private final Segment segment;

    Refusals(Termination termination, OutstandingRequests outstanding, Segment segment) {
        this.termination = termination;
        this.outstanding = outstanding;
        this.segment = segment;
    }

    /// Refuses a segment that the peer may not send.
    boolean refuse(TerminateCode code, String what) {
        keep(code, 0);
        termination.refuse(code, "the peer sent " + what);
        return false;
    }

    /// Refuses the peer access to memory by this key.
    boolean refuseAccess(TerminateCode code, int key, String cause) {
        keep(code, rdmapBytes());
        termination.refuseAccess(code, key, cause);
        return false;
    }

    /// Fails the receive in use, which cannot take the message.
    boolean failReceive(TerminateCode code, WcStatus status, String cause) {
        keep(code, 0);
        termination.failReceive(code, status, cause);
        return false;
    }

    /// Refuses the peer's answer, which does not fit the request.
    boolean refuseAnswer(TerminateCode code, String cause) {
        keep(code, 0);
        outstanding.refuseAnswer(code, WcStatus.BAD_RESP_ERR, cause);
        return false;
    }

    /// Returns the number of bytes of the RDMAP header that a refusal for its key shows.
    private int rdmapBytes() {
        return switch (segment.opcode) {
            case READ_REQUEST -> ReadRequest.BYTES;
            case ATOMIC_REQUEST -> AtomicRequest.BYTES;
            default -> 0;
        };
    }

    private void keep(TerminateCode code, int rdmapBytes) {
        termination.keepRefused(
                code, segment.in, segment.header, segment.headerBytes, rdmapBytes, segment.payloadLeft - rdmapBytes);
    }

    /// Returns the refusal of an access to memory, in words.
    static String access(String operation, long bytes, long address, int key, MemoryVerdict verdict) {
        return "the peer's " + operation + " of " + bytes + " bytes at 0x" + Long.toHexString(address) + " with STag 0x"
                + Integer.toHexString(key) + ": " + verdict.explanation();
    }

    // ---- codes

    /// Returns the code for a refused READ or atomic of the peer.
    static TerminateCode code(MemoryVerdict verdict, long address, long bytes) {
        return switch (verdict) {
            case WRONG_DOMAIN, WRONG_QUEUE_PAIR -> TerminateCode.STAG_NOT_ASSOCIATED;
            case NO_RIGHT, NOT_ALLOWED -> TerminateCode.ACCESS;
            case OUT_OF_BOUNDS, TOO_SHORT -> wraps(address, bytes) ? TerminateCode.OFFSET_WRAP : TerminateCode.BOUNDS;
            case NO_SUCH_KEY, NOT_BOUND, GONE, OK -> TerminateCode.INVALID_STAG;
        };
    }

    /// Returns the code for a refused WRITE of the peer. Only the layer above knows rights; what DDP finds is its
    /// own (RFC 5040 7.1, RFC 5041 7.2).
    static TerminateCode taggedCode(MemoryVerdict verdict, long address, long bytes) {
        return switch (code(verdict, address, bytes)) {
            case STAG_NOT_ASSOCIATED -> TerminateCode.TAGGED_NOT_ASSOCIATED;
            case BOUNDS -> TerminateCode.TAGGED_BOUNDS;
            case OFFSET_WRAP -> TerminateCode.TAGGED_OFFSET_WRAP;
            case ACCESS -> TerminateCode.ACCESS;
            default -> TerminateCode.TAGGED_INVALID_STAG;
        };
    }

    private static boolean wraps(long address, long bytes) {
        return bytes > 0 && Long.compareUnsigned(address + bytes - 1, address) < 0;
    }
}
