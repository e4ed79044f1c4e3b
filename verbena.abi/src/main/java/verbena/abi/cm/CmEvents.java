package verbena.abi.cm;

import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_ADDR_ERROR;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_ADDR_RESOLVED;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_CONNECT_ERROR;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_CONNECT_REQUEST;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_CONNECT_RESPONSE;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_DEVICE_REMOVAL;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_DISCONNECTED;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_ESTABLISHED;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_MULTICAST_ERROR;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_MULTICAST_JOIN;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_REJECTED;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_ROUTE_ERROR;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_ROUTE_RESOLVED;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_TIMEWAIT_EXIT;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_UNREACHABLE;
import static verbena.foreign.rdma.CmStructs.CM_EVENT;
import static verbena.foreign.rdma.CmStructs.CM_ID;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.abi.Errno;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.abi.verbs.AddressCalls;
import verbena.foreign.Memory;
import verbena.verbs.AddressVector;
import verbena.verbs.Gid;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionEvent.ConnectRequest;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.PeerParameters;
import verbena.verbs.cm.PrivateData;

/// `struct rdma_cm_event`: what a [ConnectionEvent] is in C.
final class CmEvents {
    private static final int ENETDOWN = 100;

    private CmEvents() {}

    /// An event that the program has: what it keeps from being destroyed.
    record Told(long pointer, long id, long listener) {}

    /// Takes an event for the program: its object is not destroyed until the event is acknowledged. A request gets
    /// its identifier, because its next event may be taken at once. Returns false when the object of the event is
    /// closed, or being closed.
    static boolean isTaken(ConnectionEvent event) {
        IdHandle of = handle(event instanceof ConnectRequest request ? request.listener() : event.id());
        if (of == null || !of.onEventTaken()) {
            return false;
        }
        return !(event instanceof ConnectRequest request) || asking(request, of).onEventTaken();
    }

    /// Makes the struct of an event that was taken.
    static long ofTaken(ConnectionEvent event) {
        boolean done = false;
        try {
            long made = of(event);
            done = true;
            return made;
        } finally {
            if (!done) {
                giveBack(event);
            }
        }
    }

    private static void giveBack(ConnectionEvent event) {
        IdHandle of = IdHandle.get(Handles.pointerOf(event.id()));
        of.onEventsAcknowledged(1);
        if (event instanceof ConnectRequest request) {
            of.destroy();
            IdHandle.get(Handles.pointerOf(request.listener())).onEventsAcknowledged(1);
        }
    }

    /// Returns a new identifier for a request.
    private static IdHandle asking(ConnectRequest request, IdHandle listener) {
        IdHandle known = handle(request.id());
        if (known != null) {
            return known;
        }
        int type = Memory.getInt(listener.pointer + CM_ID.at("qp_type"));
        IdHandle made = IdHandle.make(request.id(), null, listener.get("channel"), listener.get("context"), type);
        made.asking = request.peer();
        made.trafficClass = listener.trafficClass;
        return made;
    }

    private static @Nullable IdHandle handle(ConnectionId id) {
        return Handles.find(Handles.pointerOf(id), IdHandle.class);
    }

    /// Makes the struct of an event.
    ///
    /// @return 0 when the identifier is gone
    static long of(ConnectionEvent event) {
        if (event instanceof ConnectRequest request) {
            return request(request);
        }
        IdHandle id = handle(event.id());
        if (id == null) {
            return 0;
        }
        id.refresh();
        return switch (event) {
            case ConnectionEvent.AddressResolved _ -> plain(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
            case ConnectionEvent.AddressError _ -> plain(id, RDMA_CM_EVENT_ADDR_ERROR, -ENETDOWN);
            case ConnectionEvent.RouteResolved _ -> plain(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
            case ConnectionEvent.RouteError _ -> plain(id, RDMA_CM_EVENT_ROUTE_ERROR, (int) Errno.EHOSTUNREACH);
            case ConnectionEvent.ConnectResponse it -> connected(id, RDMA_CM_EVENT_CONNECT_RESPONSE, it.peer());
            case ConnectionEvent.ConnectError _ -> plain(id, RDMA_CM_EVENT_CONNECT_ERROR, (int) Errno.EINVAL);
            case ConnectionEvent.Unreachable _ -> plain(id, RDMA_CM_EVENT_UNREACHABLE, (int) Errno.ETIMEDOUT);
            case ConnectionEvent.Rejected it -> rejected(id, it);
            case ConnectionEvent.Established it -> connected(id, RDMA_CM_EVENT_ESTABLISHED, it.peer());
            case ConnectionEvent.DatagramEstablished it -> {
                long made = plain(id, RDMA_CM_EVENT_ESTABLISHED, 0);
                with(made, "ud", it.peer().privateData());
                yield datagram(made, it.path(), it.peer().qpn(), it.peer().qkey());
            }
            case ConnectionEvent.Disconnected _ -> plain(id, RDMA_CM_EVENT_DISCONNECTED, 0);
            case ConnectionEvent.DeviceRemoval _ -> plain(id, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
            case ConnectionEvent.MulticastJoined it -> {
                long made = plain(id, RDMA_CM_EVENT_MULTICAST_JOIN, 0);
                yield group(datagram(made, it.path(), it.qpn(), it.qkey()), id, it.group());
            }
            case ConnectionEvent.MulticastError it ->
                group(plain(id, RDMA_CM_EVENT_MULTICAST_ERROR, (int) Errno.EINVAL), id, it.group());
            case ConnectionEvent.TimewaitExit _ -> plain(id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
            case ConnectRequest _ -> 0; // above
        };
    }

    private static long request(ConnectRequest request) {
        IdHandle listener = handle(request.listener());
        if (listener == null) {
            request.id().close();
            return 0;
        }
        IdHandle id = asking(request, listener);
        id.refresh();
        PeerParameters peer = request.peer();
        long event = of(id, RDMA_CM_EVENT_CONNECT_REQUEST, 0, listener.pointer);
        if (id.id.space().isDatagram()) {
            with(event, "ud", peer.privateData());
            Memory.putInt(event + CM_EVENT.at("param.ud.qp_num"), peer.qpn());
            Memory.putInt(event + CM_EVENT.at("param.ud.qkey"), peer.qkey());
        } else {
            Memory.putByte(event + CM_EVENT.at("param.conn.retry_count"), peer.retryCount());
            ofConnection(event, peer);
        }
        return event;
    }

    /// Returns the event of a rejection. A request for datagrams that was rejected is an unreachable peer, with the
    /// status of SIDR_REP (rdma_get_cm_event(3)).
    private static long rejected(IdHandle id, ConnectionEvent.Rejected why) {
        return id.id.space().isDatagram()
                ? with(plain(id, RDMA_CM_EVENT_UNREACHABLE, why.reason()), "ud", why.privateData())
                : with(plain(id, RDMA_CM_EVENT_REJECTED, why.reason()), "conn", why.privateData());
    }

    private static long plain(IdHandle id, int type, int status) {
        return of(id, type, status, 0);
    }

    /// @param listener the pointer of the identifier that listens; 0 when the event is about no request
    private static long of(IdHandle id, int type, int status, long listener) {
        long event = Native.allocate(CM_EVENT.size());
        Memory.putLong(event + CM_EVENT.at("id"), id.pointer);
        Memory.putLong(event + CM_EVENT.at("listen_id"), listener);
        Memory.putInt(event + CM_EVENT.at("event"), type);
        Memory.putInt(event + CM_EVENT.at("status"), status);
        Handles.put(event, new Told(event, id.pointer, listener));
        return event;
    }

    private static long connected(IdHandle id, int type, PeerParameters peer) {
        return ofConnection(plain(id, type, 0), peer);
    }

    /// Writes the parameters of a peer as requests to this side (rdma_get_cm_event(3)).
    private static long ofConnection(long event, PeerParameters peer) {
        Memory.putByte(event + CM_EVENT.at("param.conn.responder_resources"), peer.initiatorDepth());
        Memory.putByte(event + CM_EVENT.at("param.conn.initiator_depth"), peer.responderResources());
        Memory.putByte(event + CM_EVENT.at("param.conn.rnr_retry_count"), peer.rnrRetryCount());
        Memory.putByte(event + CM_EVENT.at("param.conn.srq"), peer.hasSharedReceiveQueue() ? 1 : 0);
        Memory.putInt(event + CM_EVENT.at("param.conn.qp_num"), peer.qpn());
        return with(event, "conn", peer.privateData());
    }

    private static long with(long event, String which, PrivateData data) {
        byte[] bytes = data.bytes();
        if (bytes.length > 0) {
            long copy = Native.allocate(bytes.length);
            MemorySegment.copy(MemorySegment.ofArray(bytes), 0, Native.at(copy, bytes.length), 0, bytes.length);
            Memory.putLong(event + CM_EVENT.at("param." + which + ".private_data"), copy);
            Memory.putByte(event + CM_EVENT.at("param." + which + ".private_data_len"), bytes.length);
        }
        return event;
    }

    private static long datagram(long event, AddressVector path, int qpn, int qkey) {
        AddressCalls.put(path, event + CM_EVENT.at("param.ud.ah_attr"));
        Memory.putInt(event + CM_EVENT.at("param.ud.qp_num"), qpn);
        Memory.putInt(event + CM_EVENT.at("param.ud.qkey"), qkey);
        return event;
    }

    /// Writes the event of a group. Its `private_data` is the value that the program gave when it joined.
    private static long group(long event, IdHandle id, Gid group) {
        Memory.putLong(event + CM_EVENT.at("param.ud.private_data"), id.joined.getOrDefault(group, 0L));
        return event;
    }

    static void free(long event) {
        Told told = Handles.find(event, Told.class);
        if (told != null) {
            Handles.remove(event);
            int type = Memory.getInt(event + CM_EVENT.at("event"));
            if (type != RDMA_CM_EVENT_MULTICAST_JOIN && type != RDMA_CM_EVENT_MULTICAST_ERROR) {
                Native.free(Memory.getLong(event + CM_EVENT.at("param.conn.private_data")));
            }
            Native.free(event);
        }
    }
}
