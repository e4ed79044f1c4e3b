package verbena.abi.rsocket;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.abi.Threads;
import verbena.verbs.AddressHandle;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.PortSpace;

/// The peers that an rsocket of datagrams knows, and its own queue pairs that reach them, one for each own address.
/// Guarded by the lock of its [DatagramRsocket].
final class DatagramPeers {
    /// Peers whose queue pairs are known; the one that was sent to the longest time ago makes room.
    private static final int PEERS_MAX = 4_096;

    /// A peer to send to.
    static final class Peer {
        final DatagramQueue queue;
        private @Nullable AddressHandle handle;
        private int qpn;

        private Peer(DatagramQueue queue) {
            this.queue = queue;
        }

        /// Returns the address handle of its queue pair; null as long as that is not known.
        @Nullable
        AddressHandle handle() {
            return handle;
        }

        int qpn() {
            return qpn;
        }

        /// Handles the introduction of a peer, which names its queue pair.
        void onIntroduction(int itsQpn, InetSocketAddress from) {
            if (handle == null || qpn != itsQpn) {
                close();
                qpn = itsQpn;
                handle = queue.handleTo(from);
            }
        }

        private void close() {
            if (handle != null) {
                handle.close();
                handle = null;
            }
        }
    }

    private final RsocketOptions options;
    private final Consumer<DatagramQueue> onMade;
    private final Map<InetAddress, DatagramQueue> queues = new HashMap<>();
    private final LinkedHashMap<InetSocketAddress, Peer> peers = new LinkedHashMap<>(16, 0.75f, true);

    /// @param onMade is given each queue that is made
    DatagramPeers(RsocketOptions options, Consumer<DatagramQueue> onMade) {
        this.options = options;
        this.onMade = onMade;
    }

    /// Returns all queues.
    Collection<DatagramQueue> queues() {
        return queues.values();
    }

    /// Returns the peer, with the queue pair that reaches it; empty when no device does.
    ///
    /// @param own the name of the rsocket
    Optional<Peer> find(InetSocketAddress to, InetSocketAddress own) {
        Peer known = peers.get(to);
        if (known != null) {
            return Optional.of(known);
        }
        Optional<Peer> made = towards(to, own)
                .flatMap(from -> queue(from, to))
                .or(() -> onLoopback(to, own))
                .map(Peer::new);
        if (made.isPresent()) {
            if (peers.size() == PEERS_MAX) {
                peers.pollFirstEntry().getValue().close();
            }
            peers.put(to, made.get());
        }
        return made;
    }

    private Optional<DatagramQueue> queue(InetSocketAddress own, InetSocketAddress to) {
        DatagramQueue known = queues.get(own.getAddress());
        return known != null
                ? Optional.of(known)
                : resolved(Optional.of(new InetSocketAddress(own.getAddress(), 0)), to)
                        .map(id -> made(id, own));
    }

    /// Returns a queue for loopback. An rsocket at all addresses sends to loopback from 127.0.0.1, as the system
    /// chooses. When no device is there, a device at another address of loopback does it, as for a connection.
    private Optional<DatagramQueue> onLoopback(InetSocketAddress to, InetSocketAddress own) {
        if (!own.getAddress().isAnyLocalAddress() || !to.getAddress().isLoopbackAddress()) {
            return Optional.empty();
        }
        return resolved(Optional.empty(), to).map(id -> {
            InetAddress from = id.localAddress().orElseThrow().getAddress();
            DatagramQueue known = queues.get(from);
            if (known != null) {
                id.close();
                return known;
            }
            return made(id, new InetSocketAddress(from, own.getPort()));
        });
    }

    /// Returns an identifier at an own address, or any; empty when no device there reaches the peer.
    private static Optional<ConnectionId> resolved(Optional<InetSocketAddress> from, InetSocketAddress to) {
        return Threads.make(() -> {
            ConnectionId id = RsocketIds.create(PortSpace.UDP);
            from.ifPresentOrElse(own -> id.resolveAddress(own, to), () -> id.resolveAddress(to));
            if (id.state() != ConnectionId.State.ADDRESS_RESOLVED) {
                id.close();
                return Optional.empty();
            }
            return Optional.of(id);
        });
    }

    /// Makes a queue pair at an own address, from which datagrams are sent.
    ///
    /// @param name own address and port of UDP
    private DatagramQueue made(ConnectionId id, InetSocketAddress name) {
        DatagramQueue queue = Threads.make(() -> new DatagramQueue(id, name, options));
        queues.put(name.getAddress(), queue);
        onMade.accept(queue);
        return queue;
    }

    /// Returns the address that the system would send from, unless the rsocket is bound to one; empty when there is
    /// no route.
    private static Optional<InetSocketAddress> towards(InetSocketAddress to, InetSocketAddress own) {
        if (!own.getAddress().isAnyLocalAddress()) {
            return Optional.of(own);
        }
        try (var probe = DatagramChannel.open()) {
            probe.connect(to);
            InetAddress from = ((InetSocketAddress) probe.getLocalAddress()).getAddress();
            return Optional.of(new InetSocketAddress(from, own.getPort()));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /// Forgets all, and returns the queues, which are to be closed.
    List<DatagramQueue> clear() {
        var all = new ArrayList<>(queues.values());
        queues.clear();
        peers.values().forEach(Peer::close);
        peers.clear();
        return all;
    }
}
