package verbena.tools.decode;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.wire.notation.PspText;
import verbena.wire.pcap.CapturedPacket;
import verbena.wire.pcap.PcapngBlocks;
import verbena.wire.pcap.PspUnwrapper;

/// A capture that `decode` writes: each packet as it was read, or without PSP, with the header of PSP as its
/// comment.
final class ClearCapture implements AutoCloseable {
    private final OutputStream out;
    /// The interface for each link type.
    private final Map<Integer, Integer> interfaces = new HashMap<>();

    ClearCapture(Path file) throws IOException {
        out = new BufferedOutputStream(Files.newOutputStream(file));
        out.write(PcapngBlocks.section("verbena decode"));
    }

    /// @param packet as it was read
    /// @param psp what it was when it was PSP
    void write(CapturedPacket packet, PspUnwrapper.@Nullable Found psp) throws IOException {
        Integer number = interfaces.get(packet.linkType());
        if (number == null) {
            number = interfaces.size();
            interfaces.put(packet.linkType(), number);
            out.write(PcapngBlocks.interfaceDescription(
                    packet.linkType(), "capture" + number, "of another capture, without PSP"));
        }
        String said = psp == null ? "" : PspText.format(psp);
        String comment =
                packet.comment().isEmpty() || said.isEmpty() ? packet.comment() + said : packet.comment() + "; " + said;
        MemorySegment clear = psp == null ? null : psp.clear();
        MemorySegment bytes = clear == null ? packet.bytes() : clear;
        int there = (int) bytes.byteSize();
        out.write(PcapngBlocks.packet(
                number,
                packet.nanos(),
                bytes,
                there,
                clear == null ? (int) packet.originalBytes() : there,
                0,
                0,
                comment.isEmpty() ? null : comment));
    }

    @Override
    public void close() throws IOException {
        out.close();
    }
}
