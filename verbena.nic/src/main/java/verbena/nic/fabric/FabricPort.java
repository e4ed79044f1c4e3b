package verbena.nic.fabric;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.Pollfd;
import verbena.foreign.linux.LinuxSockets;
import verbena.foreign.linux.Pollfds;
import verbena.subnet.node.NodePort;
import verbena.verbs.StaticRate;
import verbena.wire.BigEndian;
import verbena.wire.mad.PortInfo;

/// The state of the port of an adapter, as the process of a fabric reports it.
///
/// @param state as PortInfo has it: 1 down, 2 init, 3 armed, 4 active
/// @param lid 0 before the port has one
/// @param lmc the port has two to this many LIDs
/// @param subnetManagerLid 0 when there is none
/// @param subnetManagerLevel service level of packets for the subnet manager
/// @param width of the link, as [verbena.verbs.PortAttributes] has it
/// @param speed of each of its lanes, as there
/// @param reregistrations how often a subnet manager has asked that clients register again
/// @param pkeys the table of P_Keys, up to the last one that is there
/// @param isInUse whether a device has the adapter
public record FabricPort(
        int state,
        int lid,
        int lmc,
        int subnetManagerLid,
        int subnetManagerLevel,
        int width,
        int speed,
        int reregistrations,
        long nodeGuid,
        long portGuid,
        List<Integer> pkeys,
        boolean isInUse) {
    private static final int DOWN = PortInfo.DOWN;
    private static final int EXTENDED_SPEEDS = 4; // speed 16 and above: the bits of extended speeds, from 14 Gb/s on
    private static final int[] LANES = {1, 4, 8, 12};
    private static final int[] MBPS_OF_A_LANE = {2_500, 5_000, 10_000, 10_000, 14_062, 25_781, 53_125};
    /// The time that the process of a fabric may take to answer.
    private static final long PATIENCE_NANOS = 5_000_000_000L;

    /// Returns the ports of the fabric of this user, in the order of its adapters; empty when there is no fabric.
    public static List<FabricPort> all(Path place) {
        var ports = new ArrayList<FabricPort>();
        if (!Files.exists(place)) {
            return ports; // most often; no function of C has to be linked to see it
        }
        try (Arena arena = Arena.ofShared()) {
            var linux = new LinuxSockets(arena);
            int fd = FabricSocket.connect(linux, place);
            if (fd < 0) {
                return ports;
            }
            MemorySegment message = arena.allocate(FabricSocket.INFO_BYTES);
            FabricPort port;
            do {
                port = FabricSocket.ask(fd, message, FabricSocket.QUERY, ports.size(), "") ? answer(fd, message) : null;
                if (port != null) {
                    ports.add(port);
                }
            } while (port != null);
            LinuxSockets.close(fd);
            return ports;
        }
    }

    /// Returns whether the link is faster than a static rate, which then slows its senders.
    public boolean isFasterThan(StaticRate rate) {
        int lanes = pick(LANES, width);
        return rate != StaticRate.PORT && (long) lanes * pick(MBPS_OF_A_LANE, speed) > rate.mbps();
    }

    /// Returns the value that belongs to a bit; the greatest where there is no such bit.
    private static int pick(int[] values, int bit) {
        return values[Math.min(values.length - 1, Integer.numberOfTrailingZeros(bit))];
    }

    /// Waits for an answer; null when there is none, or no such adapter.
    public static @Nullable FabricPort answer(int fd, MemorySegment message) {
        return await(fd, message) < FabricSocket.INFO_BYTES ? null : read(message);
    }

    /// Waits for a message; returns its bytes, 0 when the other end has closed, -1 when none has come.
    static long await(int fd, MemorySegment message) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pollfds = arena.allocate(Pollfd.BYTES, 8);
            MemorySegment timeout = arena.allocate(LinuxAbi.Timespec.BYTES, 8);
            long end = System.nanoTime() + PATIENCE_NANOS;
            long bytes = LinuxSockets.read(fd, message);
            while (bytes < 0 && System.nanoTime() - end < 0) {
                Pollfds.watch(pollfds, 0, fd, LinuxAbi.POLLIN);
                timeout.set(ValueLayout.JAVA_LONG, 0, 1);
                int _ = LinuxSockets.poll(pollfds, 1, timeout);
                bytes = LinuxSockets.read(fd, message);
            }
            return bytes;
        }
    }

    /// Reads the state of a port from [FabricSocket#INFO]; null when there is no such adapter.
    public static @Nullable FabricPort read(MemorySegment message) {
        int status = BigEndian.u8(message, FabricSocket.STATUS);
        if (BigEndian.u8(message, 0) != FabricSocket.CONTROL
                || BigEndian.u8(message, 1) != FabricSocket.INFO
                || status == FabricSocket.NO_SUCH) {
            return null;
        }
        MemorySegment info = message.asSlice(FabricSocket.PORT_INFO, PortInfo.BYTES);
        int extended = PortInfo.LINK_SPEED_EXT_ACTIVE.getInt(info);
        return new FabricPort(
                PortInfo.PORT_STATE.getInt(info),
                PortInfo.LID.getInt(info),
                PortInfo.LMC.getInt(info),
                PortInfo.MASTER_SM_LID.getInt(info),
                PortInfo.MASTER_SM_SL.getInt(info),
                PortInfo.LINK_WIDTH_ACTIVE.getInt(info),
                extended == 0 ? PortInfo.LINK_SPEED_ACTIVE.getInt(info) : extended << EXTENDED_SPEEDS,
                BigEndian.i32(message, FabricSocket.REREGISTRATIONS),
                BigEndian.i64(message, FabricSocket.NODE_GUID),
                BigEndian.i64(message, FabricSocket.PORT_GUID),
                pkeys(message),
                status == FabricSocket.IN_USE);
    }

    private static List<Integer> pkeys(MemorySegment message) {
        var pkeys = new ArrayList<Integer>();
        for (int i = NodePort.PKEYS - 1; i >= 0; i--) {
            int pkey = BigEndian.u16(message, FabricSocket.PKEYS + Short.BYTES * (long) i);
            if (pkey != 0 || !pkeys.isEmpty()) {
                pkeys.addFirst(pkey);
            }
        }
        return List.copyOf(pkeys);
    }

    /// Returns this port without a link.
    public FabricPort down() {
        return new FabricPort(DOWN, 0, 0, 0, 0, width, speed, reregistrations, nodeGuid, portGuid, pkeys, true);
    }

    /// Asks the fabric of this user to end; false when there is none.
    public static boolean takeDown(Path place) {
        try (Arena arena = Arena.ofShared()) {
            int fd = FabricSocket.connect(new LinuxSockets(arena), place);
            if (fd < 0) {
                return false;
            }
            MemorySegment message = arena.allocate(FabricSocket.INFO_BYTES);
            boolean isAsked = FabricSocket.ask(fd, message, FabricSocket.DOWN, 0, "");
            long end = isAsked ? await(fd, message) : -1;
            LinuxSockets.close(fd);
            return end == 0;
        }
    }

    /// Returns the description of the fabric of this user; null when there is none.
    ///
    /// @param hasRoutes with the forwarding tables of all switches
    public static @Nullable String describe(Path place, boolean hasRoutes) {
        return text(place, FabricSocket.SHOW, hasRoutes ? 1 : 0, "");
    }

    /// Takes links of the fabric of this user down, or up again.
    ///
    /// @param node name of a node
    /// @param port one of its ports, 0 for all
    /// @return why that cannot be, or an empty text; null when there is no fabric
    public static @Nullable String setLink(Path place, String node, int port, boolean isUp) {
        return text(place, isUp ? FabricSocket.LINK_UP : FabricSocket.LINK_DOWN, port, node);
    }

    private static @Nullable String text(Path place, int kind, int number, String name) {
        try (Arena arena = Arena.ofShared()) {
            int fd = FabricSocket.connect(new LinuxSockets(arena), place);
            if (fd < 0) {
                return null;
            }
            MemorySegment message = arena.allocate(FabricSocket.TEXT_AT + FabricSocket.TEXT_BYTES_MAX + 1L);
            var text = new StringBuilder();
            long bytes = FabricSocket.ask(fd, message, kind, number, name) ? await(fd, message) : -1;
            while (bytes > FabricSocket.TEXT_AT) {
                message.set(ValueLayout.JAVA_BYTE, bytes, (byte) 0);
                text.append(message.getString(FabricSocket.TEXT_AT));
                bytes = await(fd, message);
            }
            LinuxSockets.close(fd);
            return text.toString();
        }
    }
}
