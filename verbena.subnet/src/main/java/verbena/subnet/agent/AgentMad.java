package verbena.subnet.agent;

import java.lang.foreign.MemorySegment;

/// A datagram between a program and its agent, with the other end's address (`struct ib_user_mad`).
///
/// @param agent the number that the program has given it
/// @param status 0, or [#TIMED_OUT] for a request without an answer
/// @param timeoutMillis how long an answer may take, on the way out; 0: none comes
/// @param retries how often a request is repeated, on the way out
/// @param lid of the other end
/// @param qpn of the other end
/// @param pathBits of the own LID that it came to
/// @param pkeyIndex of the own P_Key
/// @param bytes the datagram: [verbena.wire.mad.Mad#BYTES], or more for a long message
public record AgentMad(
        int agent,
        int status,
        int timeoutMillis,
        int retries,
        int lid,
        int qpn,
        int serviceLevel,
        int pathBits,
        int pkeyIndex,
        MemorySegment bytes) {
    /// [#status]: `ETIMEDOUT`, as the kernel reports it.
    public static final int TIMED_OUT = 110;
}
