package verbena.nio;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The knowledge of a process about its peers. It keeps a connection from waiting in vain where an earlier
/// connection has waited. A function of events and time, given as nanoseconds. Safe for use by any thread.
///
/// The peers that were asked last are known, 4,096 of them.
final class KnownPeers {
    static final int REMEMBERED_MAX = 4_096;

    // In units of the wait.
    /// The time for a peer that has answered before; the next is the time for a peer of this host.
    private static final int KNOWN_WAITS = 4;

    private static final int WITHIN_WAITS = 3;
    /// The time for opening a device and finding the route, for which the peer is not to blame.
    private static final int SETUP_WAITS = 3;
    /// The part of the program's limit that RDMA may take at most. The rest is for TCP.
    private static final int LIMIT_PARTS = 4;
    /// The least limit of a program for RDMA to another host, about which nothing is known. Below it TCP is tried
    /// at once.
    private static final long LIMIT_MIN_NANOS = Duration.ofSeconds(1).toNanos();
    /// The time for which an answer by RDMA counts.
    private static final long ANSWERED_NANOS = Duration.ofMinutes(10).toNanos();
    /// The time for which a silent peer is left alone. It doubles with each further silence, up to the maximum
    /// below.
    private static final long SILENT_NANOS = Duration.ofSeconds(10).toNanos();

    private static final long SILENT_MAX_NANOS = Duration.ofMinutes(1).toNanos();
    /// The bits by which each attempt that the program gives up shortens the head start of the next: to a quarter.
    /// Less than the following minimum is none.
    private static final int GIVEN_UP_BITS = 2;

    private static final long HEAD_START_MIN_NANOS = Duration.ofMillis(20).toNanos();
    private static final long GIVEN_UP_NANOS = Duration.ofMinutes(1).toNanos();
    /// The time for which a listener that has refused RDMA and taken TCP is left alone.
    private static final long REFUSED_NANOS = Duration.ofSeconds(10).toNanos();
    /// The limits of a short connection. It moves fewer bytes than this in both directions together. It is closed
    /// sooner than the time below, or sooner than the multiple below of the time of making it.
    static final long SHORT_BYTES = 1 << 16;

    static final long SHORT_NANOS = Duration.ofSeconds(1).toNanos();
    private static final int SHORT_SETUPS = 4;
    /// The number of short connections in a row after which the next go by TCP.
    static final int SHORTS_MAX = 4;

    private final long waitNanos;

    /// The knowledge about a host, whose port is 0 here, or about a listener.
    private static final class Peer {
        /// Until when each holds; null when it never did.
        private @Nullable Long silentUntil;

        private @Nullable Long refusesUntil;
        private @Nullable Long answersUntil;
        private @Nullable Long givenUpUntil;
        private @Nullable Long rowUntil;
        /// The time for which the next silence counts.
        private long nextSilence = SILENT_NANOS;
        /// The number of attempts that the program gave up before the peer answered.
        private int givenUps;
        /// The number of short connections in a row, each closed within the time after the connection before.
        private int shorts;

        private boolean hasShortsOnly(long now) {
            return shorts == SHORTS_MAX && holds(rowUntil, now);
        }
    }

    /// The known peers, guarded by this. The peer that was used last is at the end.
    private final Map<InetSocketAddress, Peer> peers = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<InetSocketAddress, Peer> eldest) {
            return size() > REMEMBERED_MAX;
        }
    };

    /// @param waitNanos for a peer on another host of which nothing is known
    KnownPeers(long waitNanos) {
        this.waitNanos = waitNanos;
    }

    private Peer peer(InetSocketAddress key) {
        return peers.computeIfAbsent(key, _ -> new Peer());
    }

    private static InetSocketAddress host(InetSocketAddress of) {
        return new InetSocketAddress(of.getAddress(), 0);
    }

    /// Returns the address that silence is a property of: the host, or only the listener where each listener is
    /// asked separately.
    private static InetSocketAddress asked(InetSocketAddress listener, Reach reach) {
        return reach == Reach.HOST ? host(listener) : listener;
    }

    private static boolean holds(@Nullable Long until, long now) {
        return until != null && until - now > 0;
    }

    /// The routes to a peer by RDMA.
    enum Reach {
        /// Through the memory of this host, or a device of this host.
        WITHIN,
        /// A device of the peer's host, at the listener's own port.
        HOST,
        /// A device that answers with the port of each listener ([MappedPort]).
        LISTENER
    }

    /// Returns how long the peer may take to answer by RDMA before TCP is tried; zero when TCP is tried at once.
    ///
    /// @param limitNanos how long the program waits at most, `Long.MAX_VALUE` when it has not said so
    synchronized long headStart(InetSocketAddress listener, Reach reach, long limitNanos, long now) {
        Peer there = peer(asked(listener, reach));
        Peer own = peer(listener);
        if (holds(there.silentUntil, now) || holds(own.refusesUntil, now) || own.hasShortsOnly(now)) {
            return 0;
        }
        boolean answers = holds(there.answersUntil, now);
        if (reach != Reach.WITHIN && !answers && limitNanos < LIMIT_MIN_NANOS) {
            return 0;
        }
        long waits = reach == Reach.WITHIN ? WITHIN_WAITS : answers ? KNOWN_WAITS : 1;
        int givenUps = holds(there.givenUpUntil, now) ? there.givenUps : 0;
        long nanos = (waits * waitNanos) >> Math.min(givenUps * GIVEN_UP_BITS, Long.SIZE - 1);
        return givenUps > 0 && nanos < HEAD_START_MIN_NANOS ? 0 : Math.min(nanos, limitNanos / LIMIT_PARTS);
    }

    /// Returns how long this side may take before it asks the peer.
    long setupNanos(long limitNanos) {
        return Math.min(SETUP_WAITS * waitNanos, limitNanos / LIMIT_PARTS);
    }

    /// Returns the time by which RDMA may delay TCP in all.
    long mostNanos(long headStartNanos, long limitNanos) {
        return Math.min(setupNanos(limitNanos) + headStartNanos, limitNanos / LIMIT_PARTS);
    }

    /// Notes that the peer has accepted by RDMA.
    synchronized void answered(InetSocketAddress listener, Reach reach, long now) {
        Peer there = peer(asked(listener, reach));
        there.answersUntil = now + ANSWERED_NANOS;
        there.silentUntil = null;
        there.nextSilence = SILENT_NANOS;
        there.givenUps = 0;
    }

    /// Notes that the peer has not answered in its time.
    synchronized void silent(InetSocketAddress listener, Reach reach, long now) {
        Peer there = peer(asked(listener, reach));
        there.silentUntil = now + there.nextSilence;
        there.nextSilence = Math.min(2 * there.nextSilence, SILENT_MAX_NANOS);
        there.answersUntil = null;
    }

    /// Notes an end without an answer: the program has given the attempt up, or its limit came too near, before the
    /// peer answered.
    synchronized void gaveUp(InetSocketAddress listener, Reach reach, long now) {
        Peer there = peer(asked(listener, reach));
        there.givenUps = holds(there.givenUpUntil, now) ? there.givenUps + 1 : 1;
        there.givenUpUntil = now + GIVEN_UP_NANOS;
    }

    /// Notes that the listener has refused RDMA, and taken TCP.
    synchronized void takesTcpOnly(InetSocketAddress listener, long now) {
        peer(listener).refusesUntil = now + REFUSED_NANOS;
    }

    /// Notes that this process listens for RDMA at a port where another listener may have been before.
    synchronized void listensForBoth(int port) {
        peers.keySet().removeIf(each -> each.getPort() == port);
    }

    /// Notes that a connection to this listener has been closed.
    ///
    /// @param bytes that it has moved, both ways
    /// @param setupNanos that it took to make it
    /// @param nanos for which it was there
    synchronized void closed(InetSocketAddress listener, long bytes, long setupNanos, long nanos, long now) {
        Peer own = peer(listener);
        long enough = Math.max(SHORT_NANOS, SHORT_SETUPS * setupNanos);
        boolean isShort = bytes < SHORT_BYTES && nanos < enough;
        int before = holds(own.rowUntil, now) ? own.shorts : 0;
        own.shorts = isShort ? Math.min(before + 1, SHORTS_MAX) : 0;
        own.rowUntil = now + SHORT_SETUPS * enough;
    }

    /// Returns the number of known peers. For tests.
    synchronized int size() {
        return peers.size();
    }
}
