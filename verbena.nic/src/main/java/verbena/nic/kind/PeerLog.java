package verbena.nic.kind;

import verbena.cm.CmRefusal;
import verbena.cm.CmSuspects;
import verbena.nic.observe.JfrEvents;
import verbena.transport.Counter;
import verbena.transport.EngineCounters;
import verbena.transport.PacketFate;
import verbena.verbs.Gid;

/// The log of peers that misbehave.
public final class PeerLog {
    private static final System.Logger LOG = System.getLogger("verbena.nic");

    private final String device;
    private final EngineCounters counters;
    private final LogPause unproven = new LogPause();

    /// @param device how messages name it
    public PeerLog(String device, EngineCounters counters) {
        this.device = device;
        this.counters = counters;
    }

    /// Logs that a peer guesses queue pair numbers or keys of any device
    /// ([verbena.nic.engine.EngineListener#onSearch]).
    public static void search(String device, PacketFate last, long sourceHigh, long sourceLow) {
        LOG.log(
                System.Logger.Level.WARNING,
                "device {0}: a peer may be searching for queue pairs or keys: many packets fit none, the last from {1}"
                        + " ({2}); see the counters",
                device,
                new Gid(sourceHigh, sourceLow),
                last.label());
    }

    /// Logs that a peer gets no connections for a while because of the requests of its earlier ones. An address
    /// that many peers share is not blocked, but only logged.
    public void blocked(Gid peer) {
        counters.count(Counter.BLOCKED_PEERS);
        JfrEvents.blocked(device, peer);
        LOG.log(
                System.Logger.Level.WARNING,
                "device {0}: {1} may be guessing keys: {2} times in {3} s its connections asked for memory to which"
                        + " they have no right; it is blocked for {4} s, unless the address is this host''s own",
                device,
                peer,
                CmSuspects.BLOCKED_AT,
                CmSuspects.WINDOW_NANOS / 1_000_000_000,
                CmSuspects.BLOCK_NANOS / 1_000_000_000);
    }

    /// Logs that a request for a connection was refused because the two sides do not have the same secret. Logged
    /// now and then, because any host can cause it.
    ///
    /// @param now the engine's time
    public void unproven(Gid peer, CmRefusal why, long now) {
        if (unproven.isPaused(now)) {
            return;
        }
        LOG.log(
                System.Logger.Level.WARNING,
                "device {0}: refuses connections, most recently from {1}: {2}; see the counter cm.unproven",
                device,
                peer,
                switch (why) {
                    case SECRET_WANTED -> "it has no secret, and this side has one";
                    case SECRET_UNWANTED -> "it has a secret, and this side has none";
                    default -> "it has another secret, or its request was changed on the way";
                });
    }
}
