package verbena.transport.congestion;

import java.util.HashMap;
import java.util.Map;
import verbena.verbs.Gid;

/// The [PeerWindow] of each peer address that an engine has reliable connections to. Engine-confined.
public final class PeerWindows {
    private final Map<Gid, PeerWindow> windows = new HashMap<>();
    private final int packetsMax;
    private final long probeNanosMin;

    public PeerWindows() {
        this(PeerWindow.PACKETS_MAX, PeerWindow.PROBE_NANOS_MIN);
    }

    /// @param packetsMax no window is ever larger
    /// @param probeNanosMin no probe is sent earlier after a sign of life; [PeerWindow#NO_PROBES]: none is
    public PeerWindows(int packetsMax, long probeNanosMin) {
        this.packetsMax = packetsMax;
        this.probeNanosMin = probeNanosMin;
    }

    /// Returns the window to a peer for another connection.
    public PeerWindow join(long peerHigh, long peerLow) {
        PeerWindow window = windows.computeIfAbsent(
                new Gid(peerHigh, peerLow), peer -> new PeerWindow(peer, packetsMax, probeNanosMin));
        window.users++;
        return window;
    }

    /// Leaves a window for a connection that has ended. With the last connection, what is known of the path is
    /// forgotten.
    public void leave(PeerWindow window) {
        assert window.users > 0 : "it has joined";
        if (--window.users == 0) {
            windows.remove(window.peer);
        }
    }
}
