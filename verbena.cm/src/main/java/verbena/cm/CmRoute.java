package verbena.cm;

import verbena.verbs.Gid;

/// The two addresses between which management datagrams travel.
public record CmRoute(Gid local, Gid remote) {
    private static final int IPV4_LOOPBACK = 127;

    /// Returns the time to wait for the answer to a message, the `sendings`th time (decision 08). Within a host
    /// no message is lost on the way but for want of room, and the peer may have no processor. Therefore each wait
    /// is longer than the one before.
    long answerNanos(long nanos, int sendings) {
        return isWithinHost() ? nanos * sendings : nanos;
    }

    private boolean isWithinHost() {
        return local.equals(remote) || (remote.isIpv4() && (remote.low() >>> 24 & 0xFF) == IPV4_LOOPBACK);
    }
}
