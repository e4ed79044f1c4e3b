package verbena.nio;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What a process has learnt of its peers, so that no connection waits in vain for what an earlier one has waited for.
/// A function of events and time, given as nanoseconds. Safe for use by any thread.
///
/// The peers that were asked last are known, 4,096 of them.
final class KnownPeers {
    static final int REMEMBERED_MAX = 4_096;

    // In units of the wait.
    /// How long a peer may take that has answered before, and one of this host.
    private static final int KNOWN_WAITS = 4;

    private static final int WITHIN_WAITS = 3;
    /// Opening a device and finding the way may take so many. The peer cannot help it.
    private static final int SETUP_WAITS = 3;
    /// The part of the program's limit that RDMA may take at most. The rest is for TCP.
    private static final int LIMIT_PARTS = 4;
    /// A program that waits less for another host, of which nothing is known, has TCP at once.
    private static final long LIMIT_MIN_NANOS = Duration.ofSeconds(1).toNanos();
    /// An answer by RDMA counts for so long.
    private static final long ANSWERED_NANOS = Duration.ofMinutes(10).toNanos();
    /// A silent peer is left alone for the first time, twice as long each further time, and at most for the last.
    private static final long SILENT_NANOS = Duration.ofSeconds(10).toNanos();

    private static final long SILENT_MAX_NANOS = Duration.ofMinutes(1).toNanos();
    /// Each attempt that the program gives up leaves the next ones a quarter of the head start. Less than this is
    /// none.
    private static final int GIVEN_UP_BITS = 2;

    private static final long HEAD_START_MIN_NANOS = Duration.ofMillis(20).toNanos();
    private static final long GIVEN_UP_NANOS = Duration.ofMinutes(1).toNanos();
    /// A listener that has refused RDMA and taken TCP is left alone for so long.
    private static final long REFUSED_NANOS = Duration.ofSeconds(10).toNanos();
    /// A connection is short that moves less than this both ways, and is closed sooner than the time, or sooner
    /// than so many times what it took to make it.
    static final long SHORT_BYTES = 1 << 16;

    static final long SHORT_NANOS = Duration.ofSeconds(1).toNanos();
    private static final int SHORT_SETUPS = 4;
    /// After so many short connections in a row the next ones go by TCP.
    static final int SHORTS_MAX = 4;

    private final long waitNanos;

    /// What is known of a host, which stands here with port 0, or of a listener.
    private static final class Peer {
        /// Until when each holds; null when it never did.
        private @Nullable Long silentUntil;

        private @Nullable Long refusesUntil;
        private @Nullable Long answersUntil;
        private @Nullable Long givenUpUntil;
        private @Nullable Long rowUntil;
        /// How long the next silence counts.
        private long nextSilence = SILENT_NANOS;
        /// Attempts that the program gave up before the peer said anything.
        private int givenUps;
        /// Short connections in a row, each of which was closed within the time after the one before.
        private int shorts;

        private boolean hasShortsOnly(long now) {
            return shorts == SHORTS_MAX && holds(rowUntil, now);
        }
    }

    /// Guarded by this. The one that was used last is at the end.
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

    /// What silence says something of: the host, or only the listener where each listener is asked for itself.
    private static InetSocketAddress asked(InetSocketAddress listener, Reach reach) {
        return reach == Reach.HOST ? host(listener) : listener;
    }

    private static boolean holds(@Nullable Long until, long now) {
        return until != null && until - now > 0;
    }

    /// How a peer is reached by RDMA.
    enum Reach {
        /// Through the memory of this host, or a device of this host.
        WITHIN,
        /// By a device of its host, at the listener's own port.
        HOST,
        /// By a device that tells the port of each listener ([MappedPort]).
        LISTENER
    }

    /// How long the peer may take to answer by RDMA before TCP is tried; zero when TCP is tried at once.
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

    /// How long this side may take before it asks the peer.
    long setupNanos(long limitNanos) {
        return Math.min(SETUP_WAITS * waitNanos, limitNanos / LIMIT_PARTS);
    }

    /// By how long RDMA may put TCP off in all.
    long mostNanos(long headStartNanos, long limitNanos) {
        return Math.min(setupNanos(limitNanos) + headStartNanos, limitNanos / LIMIT_PARTS);
    }

    /// The peer has accepted by RDMA.
    synchronized void answered(InetSocketAddress listener, Reach reach, long now) {
        Peer there = peer(asked(listener, reach));
        there.answersUntil = now + ANSWERED_NANOS;
        there.silentUntil = null;
        there.nextSilence = SILENT_NANOS;
        there.givenUps = 0;
    }

    /// The peer has said nothing for as long as it had.
    synchronized void silent(InetSocketAddress listener, Reach reach, long now) {
        Peer there = peer(asked(listener, reach));
        there.silentUntil = now + there.nextSilence;
        there.nextSilence = Math.min(2 * there.nextSilence, SILENT_MAX_NANOS);
        there.answersUntil = null;
    }

    /// The program has given an attempt up, or its limit came too near, before the peer said anything.
    synchronized void gaveUp(InetSocketAddress listener, Reach reach, long now) {
        Peer there = peer(asked(listener, reach));
        there.givenUps = holds(there.givenUpUntil, now) ? there.givenUps + 1 : 1;
        there.givenUpUntil = now + GIVEN_UP_NANOS;
    }

    /// The listener has refused RDMA, and taken TCP.
    synchronized void takesTcpOnly(InetSocketAddress listener, long now) {
        peer(listener).refusesUntil = now + REFUSED_NANOS;
    }

    /// This process listens for RDMA at a port where another listener may have been before.
    synchronized void listensForBoth(int port) {
        peers.keySet().removeIf(each -> each.getPort() == port);
    }

    /// A connection to this listener has been closed.
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

    /// How many are known. For tests.
    synchronized int size() {
        return peers.size();
    }
}
