package verbena.transport;

import verbena.transport.congestion.CongestionRule;
import verbena.transport.congestion.PeerWindows;
import verbena.transport.queue.Path;
import verbena.transport.queue.SpareFrames;
import verbena.verbs.Gid;
import verbena.verbs.PathMigration;
import verbena.verbs.QpState;

/// The settings of a queue pair, in the units that the protocol works with. Engine-confined: written by the commands
/// that modify a queue pair, read by its protocol.
public final class QueuePairParameters {
    /// Number of this queue pair.
    public final int qpn;
    /// The protection domain it belongs to.
    public int protectionDomain;
    /// The protection domain of its shared receive queue; -1 when it has none.
    public int sharedDomain = -1;

    public QpState state = QpState.RESET;

    /// Payload bytes of a full packet.
    public int pathMtu = 1024;
    /// The P_Key table of the port; on InfiniBand a subnet manager writes it, and the engine's owner takes that
    /// over.
    public int[] pkeys = {0xFFFF};
    /// The index of its P_Key in the table.
    public int pkeyIndex;

    public int qkey;
    /// Bits of [verbena.verbs.Access]: the rights of the peer.
    public int access;

    public int destinationQpn;
    public int rqPsn;
    public int sqPsn;

    /// READs and atomics that we may have outstanding.
    public int readsOutstandingMax;
    /// READs and atomics that the peer may have outstanding.
    public int readsServedMax;
    /// 5-bit code of what we ask a peer to wait; see [verbena.verbs.RnrTimer].
    public int minRnrTimerCode;
    /// The time to wait for an acknowledgement; 0 waits for ever.
    public long ackTimeoutNanos;
    public int retryCount;
    /// The number of retries after an RNR NAK; 7 is without limit.
    public int rnrRetry;
    /// The time without a packet after which a reliable connection asks whether the peer lives. It asks as often as
    /// [#retryCount] allows, and ends when there is no answer; 0: never asks. The peer has to allow remote writing.
    public long keepAliveNanos;

    /// The path to the peer of a connection.
    public Path path = Path.NONE;
    /// UDP port that the peer has promised to send all packets of this connection from; 0: it has promised
    /// nothing.
    public int peerSourcePort;

    /// Whether this end and its peer keep answers to READs that come early, and ask again only for what is missing
    /// (decision 05).
    public boolean repeatsAnswers;
    /// Whether they do the same with requests (decision 05).
    public boolean repeatsRequests;
    /// Both for each peer from RESET on.
    public boolean repeatsSelectively;

    /// Whether packets announce migrations to the peer, which is InfiniBand's own.
    public boolean canMigrate;

    public PathMigration migration = PathMigration.MIGRATED;
    /// The program asks to migrate now.
    public boolean isMigrationAsked;
    /// The path that takes the place of [#path], [#pkeyIndex] and [#ackTimeoutNanos] with a migration.
    public Path alternate = Path.NONE;

    public int alternatePkeyIndex;
    public long alternateTimeoutNanos;

    /// The windows that the one to the peer is taken from; by default, no other queue pair shares them.
    public PeerWindows windows = new PeerWindows();
    /// The store of requests that have come ahead of a gap; by default, no other queue pair shares it.
    public SpareFrames spareFrames = new SpareFrames(SpareFrames.FRAMES_MAX);
    /// The rule that a reliable connection follows on congestion; its protocol is made with it.
    public CongestionRule congestion = CongestionRule.NONE;
    /// The ECN bits of packets whose traffic class has none there (RFC 3168).
    public int ecnBits;
    /// Whether SQ_DRAINED is raised.
    public boolean notifyWhenDrained;

    public QueuePairParameters(int qpn) {
        this.qpn = qpn;
    }

    /// Returns the P_Key of this queue pair; 0, with which nothing is sent or taken, when the table has none there.
    public int pkey() {
        return pkeys[pkeyIndex];
    }

    /// Loads an alternate path, which waits to be armed.
    public void alternate(Path way, int pkey, long timeoutNanos) {
        alternate = way;
        alternatePkeyIndex = pkey;
        alternateTimeoutNanos = timeoutNanos;
        if (migration == PathMigration.ARMED) {
            migration = PathMigration.REARM;
        }
    }

    /// Notes the program's request: to arm the alternate path that is loaded, or to migrate if it is armed.
    public void migration(PathMigration to) {
        if (to == PathMigration.MIGRATED) {
            isMigrationAsked = migration == PathMigration.ARMED;
        } else {
            migration = PathMigration.REARM;
        }
    }

    /// Returns all modified settings to their first values (RESET). Number, protection domains, windows, spare
    /// frames and the rule on congestion stay.
    public void reset() {
        var fresh = new QueuePairParameters(qpn);
        pathMtu = fresh.pathMtu;
        access = fresh.access;
        destinationQpn = fresh.destinationQpn;
        rqPsn = fresh.rqPsn;
        sqPsn = fresh.sqPsn;
        readsOutstandingMax = fresh.readsOutstandingMax;
        readsServedMax = fresh.readsServedMax;
        minRnrTimerCode = fresh.minRnrTimerCode;
        ackTimeoutNanos = fresh.ackTimeoutNanos;
        retryCount = fresh.retryCount;
        rnrRetry = fresh.rnrRetry;
        keepAliveNanos = fresh.keepAliveNanos;
        path = fresh.path;
        migration = fresh.migration;
        isMigrationAsked = fresh.isMigrationAsked;
        alternate = fresh.alternate;
        alternatePkeyIndex = fresh.alternatePkeyIndex;
        alternateTimeoutNanos = fresh.alternateTimeoutNanos;
        peerSourcePort = fresh.peerSourcePort;
        repeatsAnswers = repeatsSelectively;
        repeatsRequests = repeatsSelectively;
        qkey = fresh.qkey;
        pkeyIndex = fresh.pkeyIndex;
        notifyWhenDrained = fresh.notifyWhenDrained;
    }

    /// Returns the domain that the memory of receives has to belong to (IBTA 10.2.9: the shared receive queue's own
    /// domain); all other accesses are checked with [#protectionDomain].
    public int receiveDomain() {
        return sharedDomain >= 0 ? sharedDomain : protectionDomain;
    }

    /// Sets the usual path between two addresses.
    public void path(Gid source, Gid destination) {
        path = Path.of(source, destination, 0, 64);
    }
}
