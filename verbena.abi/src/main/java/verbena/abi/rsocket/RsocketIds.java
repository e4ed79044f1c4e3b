package verbena.abi.rsocket;

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import verbena.abi.Threads;
import verbena.abi.cm.EventChannelHandle;
import verbena.verbs.InvalidStateException;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;

/// The identifiers of all rsockets, which have one channel, and the thread that brings each rsocket the events of
/// its own.
public final class RsocketIds {
    /// An rsocket whose connection comes and goes.
    interface Owner {
        void onEvent(ConnectionEvent event);

        /// Gives data on its way a moment to leave when the process ends.
        void leave();
    }

    private static final ConcurrentHashMap<ConnectionId, Owner> OWNERS = new ConcurrentHashMap<>();

    private RsocketIds() {}

    /// The channel that is made with the first rsocket.
    private static final class Channel {
        static final EventChannel CHANNEL = EventChannelHandle.openNearest();

        static {
            Threads.start("verbena-abi-rsockets", Channel::run);
        }

        private static void run() {
            while (true) {
                try {
                    onEvent(CHANNEL.await());
                } catch (InterruptedException | InvalidStateException e) {
                    return; // the channel is closed, at the end of the process
                }
            }
        }
    }

    private static void onEvent(ConnectionEvent event) {
        ConnectionId id = event instanceof ConnectionEvent.ConnectRequest request ? request.listener() : event.id();
        Owner owner = OWNERS.get(id);
        if (owner != null) {
            owner.onEvent(event);
        } else if (event instanceof ConnectionEvent.ConnectRequest) {
            event.id().close(); // the listener is gone
        }
    }

    static ConnectionId create(PortSpace space) {
        return Channel.CHANNEL.createId(space);
    }

    /// Registers the owner of an identifier, whose events reach it from now on.
    static void put(ConnectionId id, Owner owner) {
        OWNERS.put(id, owner);
    }

    static void remove(ConnectionId id) {
        OWNERS.remove(id);
    }

    /// Lets all owners finish when the process ends.
    public static void leave() {
        List.copyOf(OWNERS.values()).forEach(Owner::leave);
    }
}
