package verbena.nic.raw;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.Iovec;
import verbena.foreign.linux.LinuxAbi.Mmsghdr;
import verbena.foreign.linux.LinuxAbi.Pollfd;
import verbena.foreign.linux.LinuxAbi.TpacketStats;
import verbena.foreign.linux.LinuxSockets;
import verbena.foreign.linux.PacketRing;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.verbs.DeviceException;
import verbena.wire.roce.Ethernet;

/// The frames of one interface, for one queue pair: a packet socket (packet(7)) with a ring of arrivals, which is as
/// long as arrivals can wait. It hears nothing before it is asked to.
///
/// One thread uses it at a time: the engine's owner. A thread of its own waits for arrivals and tells the engine,
/// once for all that come until the engine has found the ring empty. The same thread gives everything back at the
/// end.
final class RawSocket {
    static final int BATCH = 16;
    /// Larger frames, which only loopback has, are not received.
    private static final int FRAME_MAX = 16_384;

    private static final int RING_BYTES = 4 << 20;
    private static final short POLLIN = 1;

    private final Arena arena = Arena.ofShared();
    private final LinuxSockets linux = new LinuxSockets(arena);
    private final HostInterface host;
    private final Runnable onArrival;
    private final int fd;
    private final int bell;
    private final PacketRing ring;
    private final int frameMax;
    private final MemorySegment statistics = arena.allocate(TpacketStats.BYTES, 4);

    private final MemorySegment messages = arena.allocate((long) BATCH * Mmsghdr.BYTES, 8);
    private final MemorySegment iovecs = arena.allocate((long) BATCH * Iovec.BYTES, 8);
    private final MemorySegment[] frames = new MemorySegment[BATCH];

    private final Thread watcher;
    /// Whether the engine has found the ring empty, so that it wants to hear of the next arrival.
    private volatile boolean isIdle = true;

    private volatile boolean isClosed;

    /// @param onArrival called by the socket's own thread
    /// @throws DeviceException when the system does not permit it
    RawSocket(HostInterface host, Runnable onArrival) {
        this.host = host;
        this.onArrival = onArrival;
        this.frameMax = Math.min(host.mtu() + Ethernet.BYTES + Ethernet.TAG_BYTES, FRAME_MAX);
        this.fd = linux.packetSocket();
        this.bell = fd < 0 ? fd : linux.eventCounter();
        boolean isReady = false;
        try {
            require("socket", fd);
            require("eventfd", bell);
            ring = PacketRing.open(linux, fd, frameMax, RING_BYTES, arena);
            require(
                    "PACKET_IGNORE_OUTGOING",
                    linux.setOption(fd, LinuxAbi.SOL_PACKET, LinuxAbi.PACKET_IGNORE_OUTGOING, 1));
            hear(false);
            isReady = true;
        } catch (PacketRing.NoRingException e) {
            throw new DeviceException("raw packets on " + host.name() + ": " + e.getMessage(), e);
        } finally {
            if (!isReady) {
                release();
            }
        }
        for (int i = 0; i < BATCH; i++) {
            frames[i] = arena.allocate(frameMax, Long.BYTES);
            MemorySegment iovec = iovecs.asSlice((long) i * Iovec.BYTES, Iovec.BYTES);
            iovec.set(JAVA_LONG, Iovec.IOV_BASE, frames[i].address());
            messages.set(JAVA_LONG, (long) i * Mmsghdr.BYTES + Mmsghdr.MSG_IOV, iovec.address());
            messages.set(JAVA_LONG, (long) i * Mmsghdr.BYTES + Mmsghdr.MSG_IOVLEN, 1);
        }
        watcher =
                Thread.ofPlatform().daemon().name("verbena-raw-" + host.name()).start(this::watch);
    }

    private void require(String call, int result) {
        if (result < 0) {
            throw new DeviceException(
                    "raw packets on " + host.name() + ": " + call + ": " + LinuxSockets.message(-result));
        }
    }

    /// Begins to hear all frames, or stops.
    void hear(boolean all) {
        require("bind", ring.bind(linux, fd, host.index(), all ? LinuxAbi.ETH_P_ALL : 0));
    }

    // ---- departures

    /// Returns the length of the longest frame that can be sent, with a VLAN tag.
    int frameMax() {
        return frameMax;
    }

    /// Returns the memory of the i-th frame to send.
    MemorySegment frame(int i) {
        return frames[i];
    }

    /// Sends frames from the `from`-th on; returns how many the kernel has taken, or its negated error.
    int send(int from, int count) {
        return linux.sendMessages(fd, messages.asSlice((long) from * Mmsghdr.BYTES), count);
    }

    void length(int i, int bytes) {
        iovecs.set(JAVA_LONG, (long) i * Iovec.BYTES + Iovec.IOV_LEN, bytes);
    }

    // ---- arrivals

    PacketRing ring() {
        return ring;
    }

    /// Returns how many arrivals found no room in the ring since the last question.
    int dropped() {
        int error = linux.option(fd, LinuxAbi.SOL_PACKET, LinuxAbi.PACKET_STATISTICS, statistics);
        return error < 0 ? 0 : statistics.get(JAVA_INT, TpacketStats.TP_DROPS);
    }

    /// Asks to be told of the next arrival.
    void idle() {
        isIdle = true;
        LockSupport.unpark(watcher);
    }

    private void watch() {
        MemorySegment polled = arena.allocate(2L * Pollfd.BYTES, 8);
        polled.set(JAVA_INT, Pollfd.FD, fd);
        polled.set(JAVA_SHORT, Pollfd.EVENTS, POLLIN);
        polled.set(JAVA_INT, (long) Pollfd.BYTES + Pollfd.FD, bell);
        polled.set(JAVA_SHORT, (long) Pollfd.BYTES + Pollfd.EVENTS, POLLIN);
        while (!isClosed) {
            if (!isIdle) {
                LockSupport.park(this);
            } else if (LinuxSockets.poll(polled, 2, MemorySegment.NULL) > 0 && !isClosed) {
                isIdle = false;
                onArrival.run();
            }
        }
        release();
    }

    // ---- the end

    /// Ends it: nothing of it is used from now on.
    void close() {
        MemorySegment one = arena.allocate(JAVA_LONG);
        one.set(JAVA_LONG, 0, 1);
        LinuxSockets.addToEventCounter(bell, one);
        isClosed = true;
        LockSupport.unpark(watcher);
    }

    private void release() {
        if (fd >= 0) {
            LinuxSockets.close(fd);
        }
        if (bell >= 0) {
            LinuxSockets.close(bell);
        }
        arena.close();
    }
}
