package verbena.tools.fabric;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.subnet.fabric.Fabric;
import verbena.subnet.fabric.FabricNode;
import verbena.subnet.fabric.FabricWatch;
import verbena.subnet.link.PacketStore;
import verbena.wire.pcap.ErfHeader;
import verbena.wire.pcap.LinkType;
import verbena.wire.pcap.PcapngBlocks;

/// A file with the packets of all cables of a fabric, LRH through VCRC, in the one form that Wireshark knows for
/// them
/// ([ErfHeader]). Each port is an interface of the file, and the comment of a packet names the port that has sent
/// it.
/// It is written by the thread of the fabric; a file that cannot be written any more, or is full, does not hold that
/// up.
final class FabricCapture implements FabricWatch, AutoCloseable {
    /// The greatest length of a file.
    static final long BYTES_MAX = 1L << 30;

    private static final int BUFFER_BYTES = 1 << 20;

    private final Fabric fabric;
    private final Path file;
    private final OutputStream out;
    private final long bytesMax;
    private final Map<FabricNode, Integer> first = new HashMap<>();
    private final MemorySegment record =
            MemorySegment.ofArray(new byte[ErfHeader.BYTES + PacketStore.PACKET_BYTES_MAX]);
    private final long epochNanos;
    private long bytes;
    private long packets;
    private long lost;
    private @Nullable String failure;

    /// Begins, and watches the fabric until it is closed.
    FabricCapture(Fabric fabric, Path file) throws IOException {
        this(fabric, file, BYTES_MAX);
    }

    FabricCapture(Fabric fabric, Path file, long bytesMax) throws IOException {
        this.fabric = fabric;
        this.file = file;
        this.bytesMax = bytesMax;
        Instant now = Instant.now();
        epochNanos = now.getEpochSecond() * 1_000_000_000 + now.getNano() - System.nanoTime();
        out = new BufferedOutputStream(Files.newOutputStream(file), BUFFER_BYTES);
        put(PcapngBlocks.section("verbena fabric"));
        int number = 0;
        for (FabricNode node : fabric.nodes()) {
            first.put(node, number);
            for (int port = 1; port <= node.ports(); port++, number++) {
                FabricNode peer = fabric.peer(node, port);
                put(PcapngBlocks.interfaceDescription(
                        LinkType.ERF,
                        node.name() + ":" + port,
                        peer == null ? "no cable" : "to " + peer.name() + ":" + fabric.peerPort(node, port)));
            }
        }
        fabric.watch(this);
    }

    private void put(byte[] block) throws IOException {
        out.write(block);
        bytes += block.length;
    }

    @Override
    public void onPacket(FabricNode sender, int port, MemorySegment memory, long at, int length) {
        packets++;
        Integer number = first.get(sender);
        if (failure != null || number == null || bytes >= bytesMax) {
            lost++;
            return;
        }
        long now = epochNanos + System.nanoTime();
        ErfHeader.writeInfiniBand(record, 0, now, length);
        MemorySegment.copy(memory, at, record, ErfHeader.BYTES, length);
        int bytesOfRecord = ErfHeader.BYTES + length;
        String from = sender.name() + ":" + port;
        try {
            put(PcapngBlocks.packet(
                    number + port - 1, now, record, bytesOfRecord, bytesOfRecord, PcapngBlocks.OUTBOUND, 0, from));
        } catch (IOException e) {
            failure = String.valueOf(e.getMessage());
            lost++;
        }
    }

    /// Returns the outcome of the capture, in a line.
    String summary() {
        return "captured %,d packets in %s%s%s"
                .formatted(
                        packets - lost,
                        file,
                        lost == 0 ? "" : ", and %,d more are not in it: ".formatted(lost),
                        lost == 0 ? "" : failure == null ? "it was full" : failure);
    }

    @Override
    public void close() {
        fabric.watch(null);
        try {
            out.close();
        } catch (IOException e) {
            failure = failure == null ? String.valueOf(e.getMessage()) : failure;
        }
    }
}
