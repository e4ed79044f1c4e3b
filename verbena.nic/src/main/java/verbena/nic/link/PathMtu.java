package verbena.nic.link;

import verbena.verbs.Mtu;

/// The computation of the path MTU that fits on an interface.
public final class PathMtu {
    /// The bytes of all headers that rxe counts before and behind the payload: IPv6 40, UDP 8, BTH 12, RETH 16
    /// and ICRC 4. A full WRITE ONLY WITH IMMEDIATE over IPv6 needs 4 more, but no real interface has an MTU
    /// that is too short by just these.
    static final int HEADERS = 80;
    /// The MTU to assume for an interface that cannot be queried: every IPv6 link carries this (RFC 8200, 5).
    public static final int UNKNOWN_INTERFACE = 1280;

    private PathMtu() {}

    /// Returns the largest path MTU whose packets fit unfragmented on an interface, as soft-RoCE computes it; 256
    /// when none fits.
    public static Mtu ofInterface(int interfaceMtu) {
        Mtu largest = Mtu.MTU_256;
        for (Mtu mtu : Mtu.values()) {
            if (mtu.bytes() <= interfaceMtu - HEADERS) {
                largest = mtu;
            }
        }
        return largest;
    }
}
