package verbena.nic.link;

import verbena.verbs.Mtu;

/// Which path MTU an interface has room for.
final class PathMtu {
    /// Every header that rxe reckons with before and behind the payload: IPv6 40, UDP 8, BTH 12, RETH 16, ICRC 4.
    /// (A full WRITE ONLY WITH IMMEDIATE over IPv6 has 4 more; an interface whose MTU is just that short is none
    /// that exists.)
    static final int HEADERS = 80;
    /// What to assume of an interface that cannot be asked: every IPv6 link carries this (RFC 8200, 5).
    static final int UNKNOWN_INTERFACE = 1280;

    private PathMtu() {}

    /// The largest path MTU whose packets fit unfragmented on an interface, as soft-RoCE computes it; 256 when even
    /// that is too large.
    static Mtu ofInterface(int interfaceMtu) {
        Mtu largest = Mtu.MTU_256;
        for (Mtu mtu : Mtu.values()) {
            if (mtu.bytes() <= interfaceMtu - HEADERS) {
                largest = mtu;
            }
        }
        return largest;
    }
}
