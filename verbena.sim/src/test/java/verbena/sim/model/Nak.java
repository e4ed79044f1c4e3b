package verbena.sim.model;

/// A refusal on the wire: an AETH that is no ACK (IBTA 9.7.5.2).
///
/// @param to number of the queue pair that is told
/// @param syndrome its first byte
/// @param isRepeated an RNR NAK for a request that has had one: when it asks again is a matter of its timers
public record Nak(int to, int syndrome, boolean isRepeated) {
    static final int SEQUENCE = 0x60;
    static final int INVALID_REQUEST = 0x61;
    static final int REMOTE_ACCESS = 0x62;
    static final int REMOTE_OPERATIONAL = 0x63;
    private static final int RNR = 0x20;

    static int notReady(int timerCode) {
        return RNR | timerCode;
    }
}
