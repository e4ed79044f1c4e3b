package verbena.nic.shm;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import verbena.nic.engine.Engine;
import verbena.nic.engine.EngineTask;
import verbena.nic.kind.DeviceHost;
import verbena.nic.kind.LocalQueuePair;
import verbena.nic.kind.QueuePairWiring;
import verbena.nic.kind.RegionMemory;
import verbena.nic.link.sharing.Neighbours;
import verbena.nic.link.shm.OutgoingRings;
import verbena.nic.link.shm.ShmLink;
import verbena.nic.roce.RoceKind;
import verbena.transport.QueuePairProtocol;
import verbena.transport.Scheduled;
import verbena.transport.near.NearConnection;
import verbena.transport.rc.ReliableConnection;
import verbena.transport.rc.XrcInitiator;
import verbena.transport.weak.Weakness;
import verbena.verbs.QpType;
import verbena.wire.DirectMessage;
import verbena.wire.Frame;

/// The InfiniBand transport between processes of one host. Packets travel as in [RoceKind]. One-sided requests need
/// none where the peer has granted access ([DirectAccess]), nor do short messages ([MessagesToPeer]). That a process
/// has ended is known at once.
final class ShmKind extends RoceKind {
    private static final String GONE = "the process at the other end has ended, or has closed its device";

    private final DeviceHost host;
    private final boolean isDirect;
    private final boolean hasMessages;
    private final RegionFiles regions = new RegionFiles();
    /// The direct access of each engine, whose link has neighbours of its own.
    private final Map<Engine, DirectAccess> direct = new HashMap<>();

    private final Map<Engine, OutgoingRings> rings = new HashMap<>();

    /// @param links one for each engine, in their order
    /// @param isDirect whether one-sided requests may need no packets
    /// @param hasMessages whether messages may need none
    /// @param weakness the freedoms that it takes, null for none
    ShmKind(DeviceHost host, List<ShmLink> links, boolean isDirect, boolean hasMessages, @Nullable Weakness weakness) {
        super(host, weakness);
        this.host = host;
        this.isDirect = isDirect;
        this.hasMessages = hasMessages;
        var files = new SharedRegions(regions);
        List<Engine> engines = host.engines().all();
        for (int i = 0; i < links.size(); i++) {
            Engine engine = engines.get(i);
            var access =
                    new DirectAccess(links.get(i), files, host.engines().memory(), host.random(), engine::nowNanos);
            direct.put(engine, access);
            rings.put(engine, links.get(i).rings());
            links.get(i).listener(new Listener(engine, access));
            links.get(i).listener(new MessageArrival(engine));
        }
    }

    @Override
    protected QueuePairProtocol reliable(QueuePairWiring wiring) {
        var made = new NearConnection(new ReliableConnection(wiring.parts()));
        DirectAccess access = isDirect ? direct.get(wiring.engine()) : null;
        if (access != null) {
            made.peerMemory(access.queuePair(wiring.parts().parameters()));
        }
        made.peerMessages(toPeer(wiring));
        return made;
    }

    @Override
    protected QueuePairProtocol initiator(QueuePairWiring wiring) {
        var made = new XrcInitiator(wiring.parts());
        made.watch(toPeer(wiring));
        return made;
    }

    private MessagesToPeer toPeer(QueuePairWiring wiring) {
        OutgoingRings to = Objects.requireNonNull(rings.get(wiring.engine()), "each engine has a link");
        return new MessagesToPeer(to, wiring.parts().parameters(), hasMessages);
    }

    /// The listener that gets events of neighbours from the link of an engine.
    private final class Listener implements Neighbours.Listener {
        private final Engine engine;
        private final DirectAccess access;

        Listener(Engine engine, DirectAccess access) {
            this.engine = engine;
            this.access = access;
        }

        @Override
        public void onTold(int slot, MemorySegment message, int descriptor) {
            access.onTold(slot, message, descriptor);
        }

        @Override
        public void onDying(int slot) {
            for (LocalQueuePair each : host.queuePairs().values()) {
                boolean isReliable = each.type() != QpType.UC && each.type() != QpType.UD;
                if (isReliable && each.engine() == engine && each.peerQpn() >>> 16 == slot) {
                    each.peerGone(GONE);
                }
            }
        }

        @Override
        public void onGone(int slot) {
            access.onGone(slot);
            onDying(slot);
        }
    }

    /// The listener that passes messages that come without packets to the queue pairs of an engine. For its owner.
    private static final class MessageArrival implements ShmLink.MessageListener, EngineTask.Arrival {
        private final Engine engine;
        private @Nullable Frame message;
        private long nowNanos;

        MessageArrival(Engine engine) {
            this.engine = engine;
        }

        @Override
        public boolean onMessage(Frame arrived, long now) {
            message = arrived;
            nowNanos = now;
            return engine.hand(DirectMessage.destinationQp(arrived), this);
        }

        @Override
        public boolean reach(Scheduled to) {
            Frame arrived = message;
            return arrived != null
                    && to instanceof NearConnection connection
                    && connection.onMessage(arrived, nowNanos);
        }
    }

    @Override
    public RegionMemory regionMemory() {
        return regions;
    }
}
