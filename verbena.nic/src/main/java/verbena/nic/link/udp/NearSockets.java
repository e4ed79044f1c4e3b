package verbena.nic.link.udp;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import verbena.wire.Frame;

/// The sockets by which packets from one own address to this host leave: one for any destination, and some that are
/// connected to the destinations that get most. To a connected socket the kernel knows the route, which saves a
/// sixth of what a small message costs. All have one port. It is not the port of the link, because what arrives
/// there would go to a connected socket and not to the link's.
///
/// For one thread at a time, except [#port()].
public final class NearSockets {
    /// The largest number of connected sockets.
    static final int CONNECTED_MAX = 16;
    /// The number of runs of packets to destinations without a connected socket of which the last gets a socket. So
    /// a destination that gets more tends to have one sooner.
    public static final int RUNS_UNTIL_CONNECTED = 256;
    /// A socket that was not used in this many runs gives way to one for another destination.
    private static final int RUNS_UNTIL_UNUSED = 16 * RUNS_UNTIL_CONNECTED;
    private static final int NONE = -1;

    private final UdpSockets sockets;
    private final UdpSocket any;
    /// The probe; null for IPv6, which has no identification.
    private final @Nullable IdentificationProbe probe;

    /// The connected sockets, and `any` behind them. The array never changes, but is replaced; a sleeping thread
    /// reads it.
    private volatile UdpSocket[] all;

    /// The number of runs when each connected socket was used last.
    private final long[] lastRun = new long[CONNECTED_MAX];
    /// The socket that was found last.
    private int latest;
    private long runs;
    private long runsWithout;
    /// The runs until a socket is connected, more where the system refuses to connect sockets.
    private long runsUntilConnected = RUNS_UNTIL_CONNECTED;

    /// @param any bound to the own address and to the port of all these sockets
    NearSockets(UdpSockets sockets, UdpSocket any, @Nullable IdentificationProbe probe) {
        this.sockets = sockets;
        this.any = any;
        this.probe = probe;
        any.among = this;
        all = new UdpSocket[] {any};
    }

    /// Returns the port that all these packets leave from. Any thread.
    int port() {
        return any.port;
    }

    /// Returns all sockets. Any thread.
    UdpSocket[] all() {
        return all;
    }

    /// Returns the socket by which a frame leaves.
    UdpSocket of(Frame frame) {
        UdpSocket[] sockets = all;
        if (sockets[latest].isConnectedTo(frame)) {
            return sockets[latest];
        }
        int i = 0;
        while (i < sockets.length - 1 && !sockets[i].isConnectedTo(frame)) {
            i++;
        }
        latest = i;
        return sockets[i];
    }

    /// Counts a run that begins with this frame and leaves by the socket that [#of] has just returned for it.
    void begin(UdpSocket socket, Frame first) {
        runs++;
        if (socket != any) {
            lastRun[latest] = runs;
        } else if (++runsWithout >= runsUntilConnected) {
            runsWithout = 0;
            connect(first);
        }
    }

    private void connect(Frame to) {
        int connected = all.length - 1;
        int at = connected < CONNECTED_MAX ? connected : unused();
        if (at == NONE) {
            return;
        }
        UdpSocket fresh = sockets.openConnected(any, to, probe);
        if (fresh == null) {
            runsUntilConnected *= 2;
            return;
        }
        fresh.among = this;
        UdpSocket[] with = Arrays.copyOf(all, Math.max(all.length, at + 2));
        with[at] = fresh;
        with[with.length - 1] = any;
        if (at < connected) {
            all[at].close();
        }
        all = with;
        lastRun[at] = runs;
    }

    private int unused() {
        int longest = 0;
        for (int i = 1; i < CONNECTED_MAX; i++) {
            if (lastRun[i] < lastRun[longest]) {
                longest = i;
            }
        }
        return runs - lastRun[longest] > RUNS_UNTIL_UNUSED ? longest : NONE;
    }

    void close() {
        for (UdpSocket socket : all) {
            socket.close();
        }
    }
}
