package verbena.wire.ib;

import static verbena.wire.ib.Header.DETH;
import static verbena.wire.ib.Header.RDETH;
import static verbena.wire.ib.Header.XRCETH;

import java.util.Set;

/// The transport service that an opcode belongs to: its three high bits (IBTA table 35), and the headers that it
/// adds to those of the operation.
public enum Transport {
    /// Reliable connection.
    RC(0x00, Set.of(), Set.of()),
    /// Unreliable connection.
    UC(0x20, Set.of(), Set.of()),
    /// Reliable datagram.
    RD(0x40, Set.of(RDETH, DETH), Set.of(RDETH)),
    /// Unreliable datagram.
    UD(0x60, Set.of(DETH), Set.of()),
    /// Congestion notification (IBTA A17.9).
    CNP(0x80, Set.of(), Set.of()),
    /// Extended reliable connection (IBTA A14). Every request packet, a MIDDLE too, carries the XRCETH: the annex
    /// was not at hand, and the XRC patches for rxe have it so.
    XRC(0xA0, Set.of(XRCETH), Set.of()),
    /// Verbena's own packets, which both ends have agreed on: opcodes from 0xC0 on are the manufacturer's.
    OWN(0xC0, Set.of(), Set.of());

    private final int prefix;

    @SuppressWarnings("ImmutableEnumChecker") // an unmodifiable set
    private final Set<Header> requestHeaders;

    @SuppressWarnings("ImmutableEnumChecker") // an unmodifiable set
    private final Set<Header> responseHeaders;

    Transport(int prefix, Set<Header> requestHeaders, Set<Header> responseHeaders) {
        this.prefix = prefix;
        this.requestHeaders = requestHeaders;
        this.responseHeaders = responseHeaders;
    }

    /// Returns the opcode with its five operation bits zero.
    public int prefix() {
        return prefix;
    }

    /// Returns whether queue pairs of this service take packets with the opcode. They take the opcodes of the
    /// service. Reliable queue pairs take notifications of congestion and selective acknowledgements, too.
    public boolean takes(Opcode opcode) {
        return opcode.transport() == this
                || ((opcode == Opcode.CNP || opcode == Opcode.SELECTIVE_ACK) && (this == RC || this == XRC));
    }

    Set<Header> headersOf(Operation operation) {
        return operation.isResponse() ? responseHeaders : requestHeaders;
    }
}
