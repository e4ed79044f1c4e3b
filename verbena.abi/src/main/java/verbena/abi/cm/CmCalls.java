package verbena.abi.cm;

import static verbena.foreign.rdma.CmConstants.RDMA_OPTION_ID;
import static verbena.foreign.rdma.CmConstants.RDMA_OPTION_ID_ACK_TIMEOUT;
import static verbena.foreign.rdma.CmConstants.RDMA_OPTION_ID_AFONLY;
import static verbena.foreign.rdma.CmConstants.RDMA_OPTION_ID_REUSEADDR;
import static verbena.foreign.rdma.CmConstants.RDMA_OPTION_ID_TOS;
import static verbena.foreign.rdma.CmStructs.CM_EVENT;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Optional;
import verbena.abi.Errno;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.abi.Threads;
import verbena.abi.verbs.DeviceHandle;
import verbena.foreign.Memory;
import verbena.foreign.rdma.SocketAddress;
import verbena.verbs.AckTimeout;
import verbena.verbs.DeviceException;
import verbena.verbs.Gid;
import verbena.verbs.QpType;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;

/// Channels, identifiers and addresses of the connection manager, and its events.
public final class CmCalls {
    private CmCalls() {}

    // ---- channels and events

    static long createEventChannel() {
        return EventChannelHandle.create().pointer;
    }

    static long destroyEventChannel(long channel) {
        Handles.get(channel, EventChannelHandle.class).destroy();
        return 0;
    }

    /// Takes the oldest event; answers `ENOENT` when there is none.
    static long takeCmEvent(long channel, long into) {
        return Handles.get(channel, EventChannelHandle.class).take(Native.some(into));
    }

    static long ackCmEvent(long event) {
        var told = Handles.get(event, CmEvents.Told.class);
        CmEvents.free(event);
        for (long each : new long[] {told.id(), told.listener()}) {
            var id = Handles.find(each, IdHandle.class);
            if (id != null) {
                id.onEventsAcknowledged(1);
            }
        }
        return 0;
    }

    /// Waits for what comes of a call on an identifier without a channel; its event stays in the identifier until
    /// the next one.
    static long complete(IdHandle id) {
        EventChannel channel = id.waitsAt;
        if (channel == null) {
            return 0;
        }
        try {
            ConnectionEvent unread = id.unread.poll();
            long event = CmEvents.of(unread == null ? channel.await() : unread);
            CmEvents.free(id.get("event"));
            id.set("event", event);
            if (event == 0) {
                return Errno.EINVAL; // destroyed meanwhile
            }
            int status = Memory.getInt(event + CM_EVENT.at("status"));
            return status > 0 ? Errno.ECONNREFUSED : status;
        } catch (InterruptedException e) {
            return Errno.EIO; // threads of the program are not interrupted
        }
    }

    // ---- identifiers

    static long createId(long channel, long into, long programsOwn, long space) {
        Memory.putLong(Native.some(into), create(channel, programsOwn, (int) space).pointer);
        return 0;
    }

    static IdHandle create(long channel, long programsOwn, int code) {
        PortSpace space = Arrays.stream(PortSpace.values())
                .filter(each -> each.code() == code)
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("ps: " + code));
        EventChannel waitsAt = channel == 0 ? EventChannelHandle.open() : null;
        EventChannel at = waitsAt == null ? Handles.get(channel, EventChannelHandle.class).channel : waitsAt;
        QpType type = space.isDatagram() ? QpType.UD : QpType.RC;
        return IdHandle.of(at.createId(space), waitsAt, channel, programsOwn, type.code());
    }

    static long destroyId(long id) {
        IdHandle.get(id).destroy();
        return 0;
    }

    /// Moves an identifier to another channel. NULL makes its calls wait from now on.
    static long migrateId(long id, long channel) {
        var handle = IdHandle.get(id);
        EventChannel before = handle.waitsAt;
        if (channel == 0) {
            makeWait(handle);
        } else {
            var to = Handles.get(channel, EventChannelHandle.class);
            var from = Handles.find(handle.get("channel"), EventChannelHandle.class);
            if (from != null && from != to) {
                to.takeOver(handle, from);
            } else {
                handle.id.migrate(to.channel);
            }
            handle.waitsAt = null;
        }
        if (before != null) {
            before.close();
            Native.free(handle.get("channel"));
        }
        if (channel != 0) {
            handle.set("channel", channel);
        }
        return 0;
    }

    static void makeWait(IdHandle handle) {
        EventChannel own = EventChannelHandle.open();
        handle.id.migrate(own);
        var from = Handles.find(handle.get("channel"), EventChannelHandle.class);
        if (from != null) {
            handle.unread.addAll(from.takeOut(handle.id));
        }
        handle.waitsAt = own;
        long pointer = Native.allocate(Integer.BYTES);
        Memory.putInt(pointer, -1);
        handle.set("channel", pointer);
    }

    static long setOption(long id, long level, long name, long value, long length) {
        var handle = IdHandle.get(id);
        if (level != RDMA_OPTION_ID) {
            return -38; // ENOSYS: options of InfiniBand's paths
        }
        long bytes = name == RDMA_OPTION_ID_TOS || name == RDMA_OPTION_ID_ACK_TIMEOUT ? 1 : Integer.BYTES;
        if (length != bytes) {
            return Errno.EINVAL;
        }
        int given = bytes == 1 ? Memory.getByte(Native.some(value)) & 0xFF : Memory.getInt(Native.some(value));
        switch ((int) name) {
            case RDMA_OPTION_ID_TOS -> handle.trafficClass = given;
            case RDMA_OPTION_ID_ACK_TIMEOUT -> handle.ackTimeout = new AckTimeout(given);
            case RDMA_OPTION_ID_REUSEADDR -> {} // ports are free at once
            case RDMA_OPTION_ID_AFONLY -> {
                if (handle.id.state() != ConnectionId.State.IDLE) {
                    return Errno.EINVAL;
                }
                handle.oneFamily = given != 0;
            }
            default -> {
                return -38;
            }
        }
        return 0;
    }

    /// Returns a port in the network's order; 0 for none.
    static long getPort(long id, long isPeers) {
        var handle = IdHandle.get(id);
        Optional<InetSocketAddress> address = isPeers != 0 ? handle.id.peerAddress() : handle.id.localAddress();
        return Memory.swapShort(address.map(InetSocketAddress::getPort).orElse(0));
    }

    // ---- addresses; a device may be opened for them

    static long bindAddr(long id, long address) {
        var handle = IdHandle.get(id);
        var at = meant(SocketAddress.read(address));
        long refusal = ofSource(at);
        return refusal != 0
                ? refusal
                : Threads.make(() -> {
                    if (handle.oneFamily) {
                        handle.id.bindOneFamily(at);
                    } else {
                        handle.id.bind(at);
                    }
                    handle.refresh();
                    return 0L;
                });
    }

    /// Returns the address that the program means. An address of loopback means any, as with rdma_cm, to a program
    /// that is to see one device only, which has no such address: libfabric binds one to ask for what there is.
    private static InetSocketAddress meant(InetSocketAddress at) {
        boolean isElsewhere = at.getAddress().isLoopbackAddress()
                && DeviceHandle.only().filter(only -> !only.isAtLoopback()).isPresent();
        return isElsewhere ? new InetSocketAddress(SocketAddress.any(at.getAddress()), at.getPort()) : at;
    }

    /// Returns the kernel's error for an own address that cannot be taken: it is none of this host's, or belongs to
    /// no device that the program is to see. 0 when it can.
    private static long ofSource(InetSocketAddress source) {
        InetAddress at = source.getAddress();
        if (at.isAnyLocalAddress() || at.isLoopbackAddress()) {
            return 0;
        }
        if (!isHere(at)) {
            return Errno.EADDRNOTAVAIL;
        }
        return DeviceHandle.only().filter(only -> !only.has(Gid.of(at))).isPresent() ? Errno.ENODEV : 0;
    }

    /// Returns whether this host has the address.
    public static boolean isHere(InetAddress address) {
        try {
            return address.isAnyLocalAddress()
                    || address.isLoopbackAddress()
                    || NetworkInterface.getByInetAddress(address) != null;
        } catch (SocketException e) {
            return false;
        }
    }

    static long resolveAddr(long id, long source, long destination, long timeout) {
        var handle = IdHandle.get(id);
        Optional<InetSocketAddress> from = source == 0 ? Optional.empty() : Optional.of(SocketAddress.read(source));
        var to = SocketAddress.read(destination);
        long refusal = from.map(CmCalls::ofSource).orElse(0L);
        if (refusal != 0) {
            return refusal;
        }
        Threads.make(() -> {
            from.ifPresentOrElse(own -> handle.id.resolveAddress(own, to), () -> handle.id.resolveAddress(to));
            handle.refresh();
            return 0;
        });
        return complete(handle);
    }

    static long resolveRoute(long id, long timeout) {
        var handle = IdHandle.get(id);
        handle.id.resolveRoute();
        return complete(handle);
    }

    // ---- devices

    /// Lists the devices that can be opened: the address of another one may be another program's.
    static long getDevices(long countPointer) {
        var opened = new ArrayList<Long>();
        DeviceException refused = null;
        for (DeviceHandle each : DeviceHandle.list()) {
            try {
                opened.add(IdHandle.pointerOf(each.shared()));
            } catch (DeviceException e) {
                refused = e;
            }
        }
        if (opened.isEmpty() && refused != null) {
            throw refused;
        }
        long list = Native.allocate((opened.size() + 1L) * Long.BYTES);
        for (int i = 0; i < opened.size(); i++) {
            Memory.putLong(list + (long) i * Long.BYTES, opened.get(i));
        }
        if (countPointer != 0) {
            Memory.putInt(countPointer, opened.size());
        }
        return list;
    }

    static long freeDevices(long list) {
        Native.free(list);
        return 0;
    }
}
