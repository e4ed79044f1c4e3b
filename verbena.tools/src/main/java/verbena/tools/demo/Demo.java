package verbena.tools.demo;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import verbena.tools.kit.Addresses;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.Capability;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.MemoryRegion;
import verbena.verbs.RemoteMemory;
import verbena.verbs.TransportType;
import verbena.verbs.WcOpcode;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.Connection;

/// The demo, seen from the first process.
///
/// Both processes know what the peer's memory holds at first, by a seed. After each step the peer is told what
/// should have changed and compares all of its memory with that, byte by byte.
final class Demo {
    private static final int WRITE_BYTES = 1 << 20;
    private static final int IMMEDIATE_OFFSET = 1 << 20;
    private static final int IMMEDIATE_BYTES = 4_096;
    private static final int IMMEDIATE = 20_251_121;
    private static final int READ_OFFSET = 2 << 20;
    private static final int READ_BYTES = 1 << 20;
    private static final long ADD = 5;
    private static final long SWAP = 42;
    private static final int OFFER_BYTES = 3 * Long.BYTES;

    private final DemoOutput output;
    private final String device;
    private final String peerDevice;
    private final double seconds;
    private final List<String> peerBy;
    private final long seed = new SecureRandom().nextLong();
    private long packetsSent;
    private long packetsReceived;
    private long peerPid;

    /// @param peerBy the words of a command that starts the peer where it is to run; none for this host
    Demo(DemoOutput output, String device, String peerDevice, double seconds, List<String> peerBy) {
        this.output = output;
        this.device = device;
        this.peerDevice = peerDevice;
        this.seconds = seconds;
        this.peerBy = peerBy;
    }

    /// Runs each step, and tells of it.
    ///
    /// @throws CommandFailed at the first thing that is not as it should be; says which
    void run() throws IOException, InterruptedException {
        Device our = Device.named(device);
        output.title("RDMA between two processes of this host: " + way());
        try (var peer = new DemoPeerProcess(peerBy, peerDevice, seed);
                Context context = our.open();
                DemoEnd we = connect(context, peer)) {
            RemoteMemory memory = offer(we, peer);
            write(we, peer, memory);
            boolean hasBell = context.attributes().has(Capability.IMMEDIATE_DATA);
            if (hasBell) {
                writeWithImmediate(we, peer, memory);
            }
            read(we, peer, memory);
            boolean hasAtomics = context.attributes().has(Capability.ATOMICS);
            if (hasAtomics) {
                fetchAdd(we, peer, memory);
                compareSwap(we, peer, memory);
            }
            if (!hasBell || !hasAtomics) {
                output.note("left out, because " + device + " does not have them: "
                        + (hasBell ? "" : "WRITE+IMM ")
                        + (hasAtomics ? "" : "FETCH_ADD CMP_SWAP"));
            }
            if (seconds > 0) {
                var rounds = new DemoRounds(peer, peerPid, seconds);
                new DemoFigures(output, device, new DemoLane(we, peer, 0, memory), peer, rounds).run();
            }
            output.verified("All verified: every completion, every byte of both memories.");
        }
    }

    private String way() {
        if (!peerBy.isEmpty()) {
            return "frames of Ethernet by " + device + ", over a cable between two networks";
        }
        String kind = device.replaceFirst("[@_,].*", "");
        return switch (kind) {
            case "shm" -> "through memory that both share, no root, no hardware";
            case "rocev2" -> "RoCE v2 packets in UDP, no root, no hardware";
            case "iwarp" -> "iWARP in TCP, no root, no hardware";
            default -> "through " + device + ", a device of the system's";
        };
    }

    private DemoEnd connect(Context context, DemoPeerProcess peer) throws InterruptedException {
        String[] started = peer.started();
        peerPid = Long.parseLong(started[2]);
        var address = new InetSocketAddress(InetAddress.ofLiteral(started[0]), Integer.parseInt(started[1]));
        DemoEnd we = DemoEnd.connect(context, started[0], started[1]);
        Connection connection = we.connection();
        output.line("the peer", end(peerPid, address, connection.peer().qpn()));
        output.line(
                "we",
                end(
                        ProcessHandle.current().pid(),
                        connection.localAddress(),
                        connection.queuePair().qpn()));
        output.line(
                "connected",
                "by that address and port, as with sockets; "
                        + (isIwarp(context)
                                ? ""
                                : "path MTU "
                                        + connection.queuePair().query().peer().pathMtu() + "; ")
                        + "each has " + DemoEnd.REGION_BYTES / (1 << 20)
                        + " MiB of memory for the other");
        return we;
    }

    private static boolean isIwarp(Context context) {
        return context.device().transportType() == TransportType.IWARP;
    }

    private static String end(long pid, InetSocketAddress at, int qpn) {
        String port = at.getPort() == 0 ? "" : " port " + at.getPort();
        return String.format(
                Locale.ROOT, "process %d, %s%s, queue pair 0x%06x", pid, Addresses.ip(at.getAddress()), port, qpn);
    }

    private RemoteMemory offer(DemoEnd we, DemoPeerProcess peer) throws InterruptedException {
        output.step("SEND", "the peer tells us where its memory is");
        begin(we);
        we.qp.postReceive(1, we.messages.slice(0, DemoEnd.MESSAGE_BYTES));
        peer.order("offer");
        WorkCompletion wc = we.await("SEND", WcOpcode.RECV);
        same("SEND: bytes received", wc.byteLength(), OFFER_BYTES);
        MemorySegment message = we.messages.segment();
        var memory = new RemoteMemory(
                message.get(DemoEnd.LONG, 0), (int) message.get(DemoEnd.LONG, 16), message.get(DemoEnd.LONG, 8));
        same("SEND: size of the memory offered", memory.length(), DemoEnd.REGION_BYTES);
        output.fact("posted", "we: a receive; the peer: a SEND of " + OFFER_BYTES + " bytes");
        packets(we);
        output.fact("completed", "on both sides: a message needs both applications, as with a socket");
        output.checked(String.format(
                Locale.ROOT, "address 0x%x, key 0x%08x, %,d bytes", memory.address(), memory.rkey(), memory.length()));
        return memory;
    }

    private void write(DemoEnd we, DemoPeerProcess peer, RemoteMemory memory) throws InterruptedException {
        long writeSeed = seed + 1;
        output.step("WRITE", "we put 1 MiB into the peer's memory");
        begin(we);
        fill(we.region, 0, DemoEnd.pattern(writeSeed, WRITE_BYTES));
        we.qp.postWrite(2, we.region.slice(0, WRITE_BYTES), memory);
        we.await("WRITE", WcOpcode.RDMA_WRITE);
        we.settle(memory);
        String[] noticed = peer.order("bytes", 0, WRITE_BYTES, writeSeed);
        output.fact(
                "posted",
                String.format(Locale.ROOT, "we: one WRITE of %,d bytes to that address and key", WRITE_BYTES));
        boolean isDirect = packets(we) == 0;
        output.fact(
                "completed",
                isIwarp(we.context)
                        ? "here only, when TCP had it; a READ behind it says that it has arrived"
                        : isDirect
                                ? "here only, when the bytes were there"
                                : "here only, when the peer's device had acknowledged it");
        uninvolved(noticed);
        output.checked(String.format(
                Locale.ROOT,
                "by the peer: %,d bytes as sent, the other %,d untouched",
                WRITE_BYTES,
                DemoEnd.REGION_BYTES - WRITE_BYTES));
    }

    private void writeWithImmediate(DemoEnd we, DemoPeerProcess peer, RemoteMemory memory) throws InterruptedException {
        long writeSeed = seed + 2;
        output.step("WRITE+IMM", "we put 4 KiB there and ring the bell");
        peer.order("receive");
        begin(we);
        fill(we.region, 0, DemoEnd.pattern(writeSeed, IMMEDIATE_BYTES));
        we.qp.postWriteWithImmediate(
                3, we.region.slice(0, IMMEDIATE_BYTES), memory.slice(IMMEDIATE_OFFSET, IMMEDIATE_BYTES), IMMEDIATE);
        we.await("WRITE with immediate", WcOpcode.RDMA_WRITE);
        String[] bell = peer.order("immediate");
        same("WRITE with immediate: the number", Long.parseLong(bell[0]), IMMEDIATE);
        same("WRITE with immediate: the length", Long.parseLong(bell[1]), IMMEDIATE_BYTES);
        peer.order("bytes", IMMEDIATE_OFFSET, IMMEDIATE_BYTES, writeSeed);
        output.fact(
                "posted",
                "we: one WRITE with the number " + IMMEDIATE + "; the peer, before: a receive without memory");
        packets(we);
        output.fact("completed", "on both sides: the data went past the peer's application, the number woke it");
        output.checked("the peer got " + bell[0] + " and the length " + bell[1] + "; all its memory as expected");
    }

    private void read(DemoEnd we, DemoPeerProcess peer, RemoteMemory memory) throws InterruptedException {
        output.step("READ", "we fetch 1 MiB of the peer's memory");
        begin(we);
        we.region.segment().asSlice(0, READ_BYTES).fill((byte) 0);
        we.qp.postRead(4, memory.slice(READ_OFFSET, READ_BYTES), we.region.slice(0, READ_BYTES));
        we.await("READ", WcOpcode.RDMA_READ);
        byte[] wanted = Arrays.copyOfRange(DemoEnd.initialMemory(seed), READ_OFFSET, READ_OFFSET + READ_BYTES);
        String difference = DemoEnd.difference(we.region.segment().asSlice(0, READ_BYTES), wanted);
        if (!difference.isEmpty()) {
            throw new CommandFailed("READ: " + difference + " in what we read");
        }
        String[] noticed = peer.order("bytes", 0, 0, 0);
        output.fact("posted", String.format(Locale.ROOT, "we: one READ of %,d bytes", READ_BYTES));
        boolean isDirect = packets(we) == 0;
        output.fact("completed", "here only, when " + (isDirect ? "the bytes were here" : "all the answers had come"));
        uninvolved(noticed);
        output.checked(String.format(Locale.ROOT, "here: %,d bytes as they are there", READ_BYTES));
    }

    private void fetchAdd(DemoEnd we, DemoPeerProcess peer, RemoteMemory memory) throws InterruptedException {
        long before = DemoEnd.COUNTER_INITIAL;
        output.step("FETCH_ADD", "we add " + ADD + " to a number in the peer's memory");
        begin(we);
        we.qp.postFetchAdd(5, memory.slice(DemoEnd.COUNTER_OFFSET), ADD, we.region.slice(0, 8));
        we.await("FETCH_ADD", WcOpcode.FETCH_ADD);
        same("FETCH_ADD: the number before", we.region.segment().get(DemoEnd.LONG, 0), before);
        String[] noticed = peer.order("long", DemoEnd.COUNTER_OFFSET, before + ADD);
        output.fact("posted", "we: one FETCH_ADD; no other request can come between its reading and writing");
        packets(we);
        uninvolved(noticed);
        output.checked("it was " + before + ", as we were told, and is " + ADD + " more");
    }

    private void compareSwap(DemoEnd we, DemoPeerProcess peer, RemoteMemory memory) throws InterruptedException {
        long now = DemoEnd.COUNTER_INITIAL + ADD;
        RemoteMemory counter = memory.slice(DemoEnd.COUNTER_OFFSET, Long.BYTES);
        output.step("CMP_SWAP", "we replace that number, if it is what we think; then again, when it is not");
        begin(we);
        we.qp.postCompareSwap(6, counter, now, SWAP, we.region.slice(0, 8));
        we.await("CMP_SWAP", WcOpcode.COMP_SWAP);
        same("CMP_SWAP: the number before", we.region.segment().get(DemoEnd.LONG, 0), now);
        peer.order("long", DemoEnd.COUNTER_OFFSET, SWAP);
        we.qp.postCompareSwap(7, counter, now, 0, we.region.slice(0, 8));
        we.await("CMP_SWAP", WcOpcode.COMP_SWAP);
        same("second CMP_SWAP: the number", we.region.segment().get(DemoEnd.LONG, 0), SWAP);
        String[] noticed = peer.order("long", DemoEnd.COUNTER_OFFSET, SWAP);
        output.fact("posted", "we: two CMP_SWAPs that expect " + now);
        packets(we);
        uninvolved(noticed);
        output.checked("the first made it " + SWAP + "; the second found that, told us, and changed nothing");
    }

    private void begin(DemoEnd we) {
        packetsSent = we.counter("sent.packets");
        packetsReceived = we.counter("received.packets");
    }

    // Tells how many there were, and returns it; -1 when unknown.
    private long packets(DemoEnd we) throws InterruptedException {
        if (!we.counts("sent.packets")) {
            return -1; // a card keeps that to itself
        }
        // The last acknowledgement may still be on its way out when all is done.
        long sent = -1;
        while (sent != we.counter("sent.packets")) {
            sent = we.counter("sent.packets");
            Thread.sleep(2);
        }
        long ours = sent - packetsSent;
        long theirs = we.counter("received.packets") - packetsReceived;
        output.fact(
                "wire",
                ours + theirs == 0
                        ? "no packet: our device did it itself, in the peer's memory"
                        : packets(ours) + " from us, " + packets(theirs) + " from the peer");
        return ours + theirs;
    }

    private static String packets(long n) {
        return n == 1 ? "1 packet" : String.format(Locale.ROOT, "%,d packets", n);
    }

    // What the peer's application says of the time in which its memory was used.
    private void uninvolved(String[] noticed) {
        same("completions that the peer's application saw", Long.parseLong(noticed[0]), 0);
        output.fact(
                "not asked",
                String.format(
                        Locale.ROOT,
                        "the peer's application: it slept, saw no completion and used %.2f ms of CPU",
                        Long.parseLong(noticed[1]) / 1e6));
    }

    private static void fill(MemoryRegion region, long offset, byte[] bytes) {
        MemorySegment.copy(bytes, 0, region.segment(), ValueLayout.JAVA_BYTE, offset, bytes.length);
    }

    private static void same(String what, long actual, long expected) {
        if (actual != expected) {
            throw new CommandFailed(what + " is " + actual + ", expected " + expected);
        }
    }
}
