package verbena.nic.kind;

import verbena.cm.CmRefusal;
import verbena.cm.CmSuspects;
import verbena.nic.observe.JfrEvents;
import verbena.transport.Counter;
import verbena.transport.Counters;
import verbena.transport.PacketFate;
import verbena.verbs.Gid;

/// What the log is told of peers that misbehave.
public final class PeerLog {
    private static final System.Logger LOG = System.getLogger("verbena.nic");

    private final String device;
    private final Counters counters;
    private final Silence unproven = new Silence();

    /// @param device how messages call it
    public PeerLog(String device, Counters counters) {
        this.device = device;
        this.counters = counters;
    }

    /// A peer tries numbers of queue pairs or keys of any device ([verbena.nic.engine.Engine.Listener#onSearch]).
    public static void search(String device, PacketFate last, long sourceHigh, long sourceLow) {
        LOG.log(
                System.Logger.Level.WARNING,
                "device {0}: a peer may be searching for queue pairs or keys: many packets fit none, the last from {1}"
                        + " ({2}); see the counters",
                device,
                new Gid(sourceHigh, sourceLow),
                last.label());
    }

    /// A peer gets no connections for a while, because of what those that it had have asked for; or only this is
    /// told, where its address is that of many.
    public void blocked(Gid peer) {
        counters.count(Counter.BLOCKED_PEERS);
        JfrEvents.blocked(device, peer);
        LOG.log(
                System.Logger.Level.WARNING,
                "device {0}: {1} may be guessing keys: {2} times in {3} s its connections asked for memory that they"
                        + " may not have; it is blocked for {4} s, unless the address is this host''s own",
                device,
                peer,
                CmSuspects.BLOCKED_AT,
                CmSuspects.WINDOW_NANOS / 1_000_000_000,
                CmSuspects.BLOCK_NANOS / 1_000_000_000);
    }

    /// A request for a connection was refused because it, or this side, has no secret, or another one. Logged now
    /// and then: any host can cause it.
    ///
    /// @param now the engine's time
    public void unproven(Gid peer, CmRefusal why, long now) {
        if (unproven.isQuiet(now)) {
            return;
        }
        LOG.log(
                System.Logger.Level.WARNING,
                "device {0}: refuses connections, at last one of {1}: {2}; see the counter cm.unproven",
                device,
                peer,
                switch (why) {
                    case SECRET_WANTED -> "it has no secret, and this side has one";
                    case SECRET_UNWANTED -> "it has a secret, and this side has none";
                    default -> "it has another secret, or its request was changed on the way";
                });
    }
}
