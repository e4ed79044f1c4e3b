package verbena.nic.roce;

import java.util.HashMap;
import java.util.Map;
import verbena.nic.link.UnreadSockets;
import verbena.transport.QueuePairParameters;
import verbena.transport.rc.PacketWay;
import verbena.verbs.Gid;

/// The way of a queue pair's packets to a peer, which may be on this host: then the kernel shows whether it has read
/// them. A socket hands packets over in order. So what lay there has been read when the socket is empty, or holds
/// less than it did. For the owner of the engine.
final class DatagramsToPeer implements PacketWay {
    /// A process that has read nothing for so long is stopped, or stands still; one that is only busy has had turns.
    private static final long PATIENCE_NANOS = 5_000_000_000L;

    private final UnreadSockets sockets;
    private final QueuePairParameters parameters;
    /// The sockets in which packets lie from before the last place, each with the unread bytes seen last.
    private final Map<Integer, Integer> unread = new HashMap<>();

    private long places;

    DatagramsToPeer(UnreadSockets sockets, QueuePairParameters parameters) {
        this.sockets = sockets;
        this.parameters = parameters;
    }

    @Override
    public long added() {
        unread.clear();
        unread.putAll(now());
        return ++places;
    }

    @Override
    public boolean isRead(long place) {
        assert place == places : "of an earlier place nothing is known";
        Map<Integer, Integer> now = now();
        unread.entrySet().removeIf(then -> now.getOrDefault(then.getKey(), 0) < then.getValue());
        unread.replaceAll((socket, _) -> now.get(socket));
        return unread.isEmpty();
    }

    @Override
    public boolean mayLose() {
        return true;
    }

    @Override
    public long patienceNanos() {
        return PATIENCE_NANOS;
    }

    private Map<Integer, Integer> now() {
        return sockets.unread(new Gid(parameters.path.destinationHigh(), parameters.path.destinationLow()));
    }
}
