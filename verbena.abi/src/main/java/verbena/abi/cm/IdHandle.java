package verbena.abi.cm;

import static verbena.foreign.rdma.CmStructs.CM_ID;
import static verbena.foreign.rdma.CmStructs.EVENT_CHANNEL;

import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import verbena.abi.Handle;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.abi.Threads;
import verbena.abi.verbs.ContextHandle;
import verbena.abi.verbs.DeviceHandle;
import verbena.abi.verbs.QueuePairHandle;
import verbena.foreign.Memory;
import verbena.foreign.rdma.SocketAddress;
import verbena.verbs.AckTimeout;
import verbena.verbs.Context;
import verbena.verbs.Gid;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PeerParameters;

/// An identifier of the connection manager and its `struct rdma_cm_id`.
public final class IdHandle extends Handle {
    public final ConnectionId id;

    /// The channel of its events when the program gave it none: its calls wait there (rdma_create_id(3),
    /// "synchronous").
    @Nullable
    EventChannel waitsAt;

    /// The events that the program had not got when its calls began to wait.
    final ArrayDeque<ConnectionEvent> unread = new ArrayDeque<>();

    /// Passive: the peer that asks.
    @Nullable
    PeerParameters asking;

    /// The program's pointers for the groups that it has joined.
    final Map<Gid, Long> joined = new ConcurrentHashMap<>();

    /// rdma_set_option(3).
    int trafficClass;

    boolean oneFamily;

    @Nullable
    AckTimeout ackTimeout;

    /// Completion queues and their channels, made because the program brought none.
    final List<Handle> made = new ArrayList<>();

    /// The options of the queue pairs of a listener's connections: rdma_create_ep(3).
    long endpointDomain;

    long endpointAttributes;

    private IdHandle(long pointer, ConnectionId id, @Nullable EventChannel waitsAt) {
        super(pointer, 0);
        this.id = id;
        this.waitsAt = waitsAt;
    }

    /// @param channel the program's; 0 for an identifier whose calls wait
    static IdHandle of(ConnectionId id, @Nullable EventChannel waitsAt, long channel, long programsOwn, int type) {
        IdHandle made = make(id, waitsAt, channel, programsOwn, type);
        made.refresh();
        return made;
    }

    /// Makes the same, before the program learns anything about it.
    static IdHandle make(ConnectionId id, @Nullable EventChannel waitsAt, long channel, long programsOwn, int type) {
        long pointer = Native.allocate(CM_ID.size());
        var made = new IdHandle(pointer, id, waitsAt);
        made.set("channel", channel == 0 ? Native.allocate(EVENT_CHANNEL.size()) : channel);
        if (channel == 0) {
            Memory.putInt(made.get("channel"), -1);
        }
        made.set("context", programsOwn);
        Memory.putInt(pointer + CM_ID.at("ps"), id.space().code());
        Memory.putInt(pointer + CM_ID.at("qp_type"), type);
        return Handles.put(made);
    }

    static IdHandle get(long pointer) {
        return Handles.get(pointer, IdHandle.class);
    }

    @Override
    public ConnectionId object() {
        return id;
    }

    long get(String field) {
        return Memory.getLong(pointer + CM_ID.at(field));
    }

    void set(String field, long value) {
        Memory.putLong(pointer + CM_ID.at(field), value);
    }

    /// Updates the program's struct with the device and the addresses that are known by now.
    void refresh() {
        if (get("verbs") == 0 && isAtOneDevice()) {
            var context = Handles.get(pointerOf(id.context()), ContextHandle.class);
            set("verbs", context.pointer);
            set("pd", context.sharedDomain().pointer);
            Memory.putByte(pointer + CM_ID.at("port_num"), 1);
        }
        SocketAddress.write(id.localAddress().orElse(null), pointer + CM_ID.at("route.addr.src_storage"));
        SocketAddress.write(id.peerAddress().orElse(null), pointer + CM_ID.at("route.addr.dst_storage"));
    }

    private boolean isAtOneDevice() {
        return switch (id.state()) {
            case IDLE, CLOSED -> false;
            case BOUND, LISTENING -> // rdma_cm takes an address of loopback for any; of one device that is this one
                id.localAddress()
                        .map(InetSocketAddress::getAddress)
                        .filter(local -> !local.isAnyLocalAddress())
                        .filter(local -> !local.isLoopbackAddress() || DeviceHandle.isOnly())
                        .filter(_ -> !DeviceHandle.seesHost())
                        .isPresent();
            default -> true;
        };
    }

    /// Returns the pointer of a context, made by the thread that makes threads. With a lock for it, its holder and
    /// that thread could wait for each other.
    static long pointerOf(Context context) {
        long known = Handles.pointerOf(context);
        return known != 0
                ? known
                : Threads.make(() -> {
                    long made = Handles.pointerOf(context);
                    return made != 0 ? made : ContextHandle.of(context).pointer;
                });
    }

    @Override
    protected void takeBackEvents() {
        var at = Handles.find(get("channel"), EventChannelHandle.class);
        if (at != null) {
            at.takeBack(id);
        }
    }

    @Override
    public List<Handle> used() {
        var all = new ArrayList<>(made);
        var qp = Handles.find(get("qp"), QueuePairHandle.class);
        if (qp != null) {
            all.add(qp);
        }
        return all;
    }

    @Override
    protected void release() {
        if (waitsAt != null) {
            waitsAt.close();
            Native.free(get("channel"));
        }
        CmEvents.free(get("event"));
        super.release();
    }
}
