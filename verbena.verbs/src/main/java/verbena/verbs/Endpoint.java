package verbena.verbs;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;

/// The address of one end of a connection, which the other end has to know. Programs exchange endpoints before
/// [QueuePair#connect(Endpoint)], by any means: a socket, a file, the connection manager. Immutable; the constructor
/// throws [IllegalArgumentException] for a value out of range.
///
/// @param gid address of the port
/// @param gidType encapsulation; both ends must have the same
/// @param qpn queue pair number, 24 bits
/// @param psn first packet sequence number that this end will send, 24 bits
/// @param mtu largest path MTU that this end can use
/// @param lid of the port, 16 bits, InfiniBand only; 0 otherwise
/// @since 0.1
public record Endpoint(Gid gid, GidType gidType, int qpn, int psn, Mtu mtu, int lid) {
    /// The bits of a queue pair number in a field of 32 (IBTA 9.2).
    public static final int QPN_MASK = 0xFF_FFFF;
    /// The bits of a packet sequence number in a field of 32 (IBTA 9.2).
    public static final int PSN_MASK = 0xFF_FFFF;
    /// The queue pair number that datagrams to a multicast group are sent to.
    public static final int MULTICAST_QPN = 0xFF_FFFF;

    public Endpoint {
        Objects.requireNonNull(gid, "gid");
        Objects.requireNonNull(gidType, "gidType");
        Objects.requireNonNull(mtu, "mtu");
        Checks.range("qpn", qpn, 0, QPN_MASK);
        Checks.range("psn", psn, 0, PSN_MASK);
        Checks.range("lid", lid, 0, 0xFFFF);
    }

    /// An endpoint that has no LID.
    public Endpoint(Gid gid, GidType gidType, int qpn, int psn, Mtu mtu) {
        this(gid, gidType, qpn, psn, mtu, 0);
    }

    /// Returns one line of text that [#parse(String)] reads: `gid/type/qpn/psn/mtu`, and `/lid` when there is one.
    /// The MTU is decimal, the other numbers are hexadecimal.
    public String format() {
        var hex = HexFormat.of();
        return gid + "/" + gidType.name() + "/" + hex.toHexDigits(qpn, 6) + "/" + hex.toHexDigits(psn, 6) + "/" + mtu
                + (lid == 0 ? "" : "/" + hex.toHexDigits(lid, 4));
    }

    /// Reads what [#format()] wrote.
    ///
    /// @throws IllegalArgumentException when `text` has another form; the message contains it, and
    ///     says what is wrong
    public static Endpoint parse(String text) {
        String[] part = text.strip().split("/", -1);
        if (part.length != 5 && part.length != 6) {
            throw new IllegalArgumentException("endpoint: gid/type/qpn/psn/mtu expected, got \"" + text + "\"");
        }
        try {
            return new Endpoint(
                    Gid.parse(part[0]),
                    type(part[1]),
                    HexFormat.fromHexDigits(part[2]),
                    HexFormat.fromHexDigits(part[3]),
                    Mtu.ofBytes(Integer.parseInt(part[4])),
                    part.length == 5 ? 0 : HexFormat.fromHexDigits(part[5]));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("endpoint: \"" + text + "\": " + e.getMessage(), e);
        }
    }

    private static GidType type(String name) {
        for (GidType each : GidType.values()) {
            if (each.name().equals(name)) {
                return each;
            }
        }
        throw new IllegalArgumentException(
                Arrays.stream(GidType.values()).map(GidType::name).toList() + " are the types, got " + name);
    }
}
