package verbena.nic.link.ethernet;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static verbena.foreign.linux.LinuxAbi.BPF_B;
import static verbena.foreign.linux.LinuxAbi.BPF_DW;
import static verbena.foreign.linux.LinuxAbi.BPF_H;
import static verbena.foreign.linux.LinuxAbi.BPF_W;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.IntSupplier;
import verbena.foreign.linux.Bpf;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.XdpMd;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.nic.link.LinkException;
import verbena.verbs.Gid;
import verbena.wire.BigEndian;
import verbena.wire.ib.Grh;
import verbena.wire.roce.Ethernet;
import verbena.wire.roce.RoceV1;
import verbena.wire.roce.RoceV2;

/// The program that the [XdpWire]s of a device have attached to their interface. It runs in the kernel for each
/// arrival, before the network stack sees it. It hands those to the socket of their queue that are RoCE for an
/// address of the device. All else passes, as if there were no program.
///
/// The interface's Ethernet address or a group's has to be the frame's, and one of [#add]'s addresses that of
/// its IP header or GRH. One VLAN tag is skipped. IPv4 with options or in fragments passes, because it is no
/// RoCE. A frame that came by a queue without a wire passes too, and is counted.
///
/// Nothing is pinned: the kernel detaches and forgets all of it when the descriptors are closed, by [#close()]
/// or by the end of the process.
final class XdpProgram implements AutoCloseable {
    private static final String NAME = "verbena_roce";
    private static final String LICENSE = "Apache-2.0";
    private static final int ADDRESSES_MAX = 1_024;
    private static final int KEY_BYTES = 16;

    // Registers: those from 6 on keep their values over calls.
    private static final int CONTEXT = 6;
    private static final int FRAME = 7;
    private static final int END = 8;
    private static final int SCRATCH = 2;
    private static final int TYPE = 5;
    private static final int RESULT = 0;

    // Where the key of the look-up is on the stack, and that of the counter.
    private static final int KEY = -16;
    private static final int COUNTER_KEY = -24;

    private static final int TYPE_AT = 12;
    private static final int IPV4_AT = Ethernet.BYTES;
    private static final int IPV4_FRAGMENT_AT = IPV4_AT + 6;
    private static final int IPV4_PROTOCOL_AT = IPV4_AT + 9;
    private static final int IPV4_DESTINATION_AT = IPV4_AT + 16;
    private static final int IPV4_PORT_AT = IPV4_AT + 22;
    private static final int IPV4_HEADERS = IPV4_AT + RoceV2.IPV4_OVERHEAD;
    private static final int IPV6_PROTOCOL_AT = Ethernet.BYTES + 6;
    private static final int DESTINATION_AT = Ethernet.BYTES + 24; // in IPv6 and in a GRH alike
    private static final int IPV6_PORT_AT = Ethernet.BYTES + Grh.BYTES + 2;
    private static final int IPV6_HEADERS = Ethernet.BYTES + RoceV2.IPV6_OVERHEAD;
    private static final int GRH_HEADERS = Ethernet.BYTES + Grh.BYTES;
    private static final int WITHOUT_OPTIONS = 0x45;
    private static final int FRAGMENT_BITS = 0x3FFF;
    private static final String PASS = "pass";
    private static final String LOOK_UP = "look up";

    private final HostInterface host;
    private final Bpf bpf;
    private final MemorySegment key;
    private final MemorySegment value;
    private int sockets = -1;
    private int addresses = -1;
    private int counters = -1;
    private int program = -1;
    private int link = -1;
    private boolean isNative;

    /// Loads the program; nothing is attached yet.
    ///
    /// @param ports of UDP whose packets arrive; none for frames of RoCE v1
    /// @param queue the first of the queues whose frames it takes
    /// @param count how many queues there are
    /// @param inPieces whether frames may come in pieces
    /// @param arena to be closed after this
    /// @throws LinkException when the system does not permit it
    XdpProgram(HostInterface host, List<Integer> ports, int queue, int count, boolean inPieces, Arena arena) {
        this.host = host;
        bpf = new Bpf(arena);
        key = arena.allocate(KEY_BYTES, 8);
        value = arena.allocate(JAVA_LONG);
        boolean isReady = false;
        try {
            sockets = require("BPF_MAP_CREATE", bpf.createMap(LinuxAbi.BPF_MAP_TYPE_XSKMAP, 4, 4, queue + count));
            addresses =
                    require("BPF_MAP_CREATE", bpf.createMap(LinuxAbi.BPF_MAP_TYPE_HASH, KEY_BYTES, 4, ADDRESSES_MAX));
            counters = require("BPF_MAP_CREATE", bpf.createMap(LinuxAbi.BPF_MAP_TYPE_ARRAY, 4, 8, 1));
            MemorySegment instructions = assemble(host.mac(), ports, queue, count, sockets, addresses, counters)
                    .layOut(arena);
            program = require("BPF_PROG_LOAD", bpf.loadXdp(instructions, NAME, LICENSE, inPieces));
            isReady = true;
        } finally {
            if (!isReady) {
                close();
            }
        }
    }

    /// Writes the program. Numbers of the network's order are compared as the processor loads them.
    private static XdpAssembler assemble(
            long mac, List<Integer> ports, int queue, int count, int sockets, int addresses, int counters) {
        var to = new XdpAssembler()
                .move(CONTEXT, 1)
                .load(BPF_W, FRAME, CONTEXT, XdpMd.DATA)
                .load(BPF_W, END, CONTEXT, XdpMd.DATA_END);
        needs(to, IPV4_HEADERS); // no RoCE is shorter
        int first = (int) (mac >>> 32);
        to.load(BPF_B, SCRATCH, FRAME, 0)
                .and(SCRATCH, 1)
                .jumpIfEqual(SCRATCH, 1, "for us") // a group
                .load(BPF_H, SCRATCH, FRAME, 0)
                .jumpUnlessEqual(SCRATCH, swapped(first), PASS)
                // Comparisons extend the sign of the number that they are given: two halves have none.
                .load(BPF_H, SCRATCH, FRAME, 2)
                .jumpUnlessEqual(SCRATCH, swapped((int) (mac >>> 16)), PASS)
                .load(BPF_H, SCRATCH, FRAME, 4)
                .jumpUnlessEqual(SCRATCH, swapped((int) mac), PASS)
                .label("for us")
                .load(BPF_H, TYPE, FRAME, TYPE_AT)
                .jumpUnlessEqual(TYPE, swapped(Ethernet.TYPE_VLAN), "no tag")
                .load(BPF_H, TYPE, FRAME, TYPE_AT + Ethernet.TAG_BYTES)
                .add(FRAME, Ethernet.TAG_BYTES);
        needs(to, IPV4_HEADERS);
        to.label("no tag");
        if (ports.isEmpty()) {
            to.jumpUnlessEqual(TYPE, swapped(RoceV1.ETHER_TYPE), PASS);
            needs(to, GRH_HEADERS);
            copyKey(to);
        } else {
            to.jumpIfEqual(TYPE, swapped(Ethernet.TYPE_IPV4), "ipv4")
                    .jumpUnlessEqual(TYPE, swapped(Ethernet.TYPE_IPV6), PASS);
            needs(to, IPV6_HEADERS);
            is(to, BPF_B, IPV6_PROTOCOL_AT, RoceV2.PROTOCOL_UDP);
            isOneOf(to, IPV6_PORT_AT, ports, "port in ipv6");
            copyKey(to);
            to.jump(LOOK_UP).label("ipv4");
            is(to, BPF_B, IPV4_AT, WITHOUT_OPTIONS);
            to.load(BPF_H, SCRATCH, FRAME, IPV4_FRAGMENT_AT)
                    .and(SCRATCH, swapped(FRAGMENT_BITS))
                    .jumpUnlessEqual(SCRATCH, 0, PASS);
            is(to, BPF_B, IPV4_PROTOCOL_AT, RoceV2.PROTOCOL_UDP);
            isOneOf(to, IPV4_PORT_AT, ports, "port in ipv4");
            to.storeNumber(BPF_DW, XdpAssembler.STACK, KEY, 0)
                    .storeNumber(BPF_W, XdpAssembler.STACK, KEY + 8, 0xFFFF_0000) // 00 00 ff ff
                    .load(BPF_W, SCRATCH, FRAME, IPV4_DESTINATION_AT)
                    .store(BPF_W, XdpAssembler.STACK, KEY + 12, SCRATCH);
        }
        to.label(LOOK_UP)
                .map(1, addresses)
                .move(2, XdpAssembler.STACK)
                .add(2, KEY)
                .call(LinuxAbi.BPF_FUNC_MAP_LOOKUP_ELEM)
                .jumpIfEqual(RESULT, 0, PASS)
                .load(BPF_W, 2, CONTEXT, XdpMd.RX_QUEUE_INDEX);
        for (int i = 0; i < count; i++) {
            to.jumpIfEqual(2, queue + i, "to socket");
        }
        return to.jump("elsewhere")
                .label("to socket")
                .map(1, sockets)
                .set(3, LinuxAbi.XDP_PASS) // when there is no socket any more
                .call(LinuxAbi.BPF_FUNC_REDIRECT_MAP)
                .exit()
                .label("elsewhere")
                .storeNumber(BPF_W, XdpAssembler.STACK, COUNTER_KEY, 0)
                .map(1, counters)
                .move(2, XdpAssembler.STACK)
                .add(2, COUNTER_KEY)
                .call(LinuxAbi.BPF_FUNC_MAP_LOOKUP_ELEM)
                .jumpIfEqual(RESULT, 0, PASS)
                .set(1, 1)
                .count(RESULT, 0, 1)
                .label(PASS)
                .set(RESULT, LinuxAbi.XDP_PASS)
                .exit();
    }

    /// Passes frames that have fewer bytes; the kernel refuses a program without this check.
    private static void needs(XdpAssembler to, int bytes) {
        to.move(SCRATCH, FRAME).add(SCRATCH, bytes).jumpIfGreater(SCRATCH, END, PASS);
    }

    /// Passes frames that have another number there.
    private static void is(XdpAssembler to, int size, int at, int value) {
        to.load(size, SCRATCH, FRAME, at).jumpUnlessEqual(SCRATCH, value, PASS);
    }

    /// Passes frames that have none of these ports there.
    ///
    /// @param found a label of its own
    private static void isOneOf(XdpAssembler to, int at, List<Integer> ports, String found) {
        to.load(BPF_H, SCRATCH, FRAME, at);
        for (int port : ports) {
            to.jumpIfEqual(SCRATCH, swapped(port), found);
        }
        to.jump(PASS).label(found);
    }

    /// Copies the 16 bytes of the destination.
    private static void copyKey(XdpAssembler to) {
        for (int i = 0; i < KEY_BYTES; i += 4) {
            to.load(BPF_W, SCRATCH, FRAME, DESTINATION_AT + i).store(BPF_W, XdpAssembler.STACK, KEY + i, SCRATCH);
        }
    }

    /// Returns two bytes of a frame as a little-endian processor loads them.
    private static int swapped(int number) {
        return Short.toUnsignedInt(Short.reverseBytes((short) number));
    }

    private int require(String call, int result) {
        if (result >= 0) {
            return result;
        }
        throw switch (-result) {
            case LinuxAbi.EPERM ->
                new LinkException(
                        LinkException.Kind.NOT_PERMITTED,
                        "AF_XDP on " + host.name() + ": " + call + ": " + LinuxSockets.message(-result)
                                + ". It needs CAP_BPF and CAP_NET_ADMIN (before Linux 5.8 CAP_SYS_ADMIN) in the host's"
                                + " own user namespace: run as root; link=raw does without.");
            case LinuxAbi.ENOSYS ->
                new LinkException(
                        LinkException.Kind.UNSUPPORTED,
                        "AF_XDP on " + host.name() + ": this kernel has no bpf(2) (CONFIG_BPF_SYSCALL).");
            default ->
                new LinkException(
                        LinkException.Kind.FAILED,
                        "AF_XDP on " + host.name() + ": " + call + ": " + LinuxSockets.message(-result)
                                + (bpf.log().isEmpty() ? "" : "\n" + bpf.log()));
        };
    }

    /// Attaches the program: in the driver where it can run XDP programs, else in the network stack.
    ///
    /// @throws LinkException when the interface has another program, or the system does not permit it
    void attach() {
        int result = bpf.attachXdp(program, host.index(), LinuxAbi.XDP_FLAGS_DRV_MODE);
        isNative = result >= 0;
        if (!isNative && result != -LinuxAbi.EBUSY && result != -LinuxAbi.EEXIST && result != -LinuxAbi.EPERM) {
            result = bpf.attachXdp(program, host.index(), LinuxAbi.XDP_FLAGS_SKB_MODE);
        }
        if (result == -LinuxAbi.EBUSY || result == -LinuxAbi.EEXIST) {
            throw new LinkException(
                    LinkException.Kind.FAILED,
                    "AF_XDP on " + host.name() + ": another XDP program is attached to it (bpftool net tells which),"
                            + " and an interface has room for one.");
        }
        link = require("BPF_LINK_CREATE", result);
    }

    /// @param socket gets the frames of this queue
    void put(int queue, int socket) {
        key.set(JAVA_INT, 0, queue);
        value.set(JAVA_INT, 0, socket);
        int _ = require("BPF_MAP_UPDATE_ELEM", bpf.put(sockets, key, value));
    }

    /// Returns whether the program runs in the driver, before the kernel has made anything of a frame.
    boolean isNative() {
        return isNative;
    }

    /// Takes frames to an address from now on: an own one, or a group's.
    ///
    /// @throws LinkException when there are too many
    void add(Gid address) {
        value.set(JAVA_INT, 0, 1);
        int _ = require("BPF_MAP_UPDATE_ELEM", withKey(address, () -> bpf.put(addresses, key, value)));
    }

    /// Removes an address.
    void remove(Gid address) {
        int _ = withKey(address, () -> bpf.remove(addresses, key)); // it fails only when there is none
    }

    private int withKey(Gid address, IntSupplier call) {
        BigEndian.put64(key, 0, address.high());
        BigEndian.put64(key, 8, address.low());
        return call.getAsInt();
    }

    /// Returns the number of frames for the wire that came by other queues and were left to the kernel.
    long elsewhere() {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment zero = call.allocate(JAVA_INT);
            MemorySegment count = call.allocate(JAVA_LONG);
            return new Bpf(call).get(counters, zero, count) < 0 ? 0 : count.get(JAVA_LONG, 0);
        }
    }

    @Override
    public void close() {
        link = closed(link);
        program = closed(program);
        counters = closed(counters);
        addresses = closed(addresses);
        sockets = closed(sockets);
    }

    private static int closed(int fd) {
        if (fd >= 0) {
            LinuxSockets.close(fd);
        }
        return -1;
    }
}
