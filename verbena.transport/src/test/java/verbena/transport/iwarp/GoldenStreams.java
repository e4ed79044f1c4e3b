package verbena.transport.iwarp;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import verbena.wire.BigEndian;
import verbena.wire.iwarp.Fpdu;
import verbena.wire.iwarp.MpaFrame;
import verbena.wire.iwarp.Rtr;
import verbena.wire.iwarp.StreamTerms;
import verbena.wire.pcap.CaptureReader;
import verbena.wire.pcap.CapturedPacket;

/// What two soft-iWARP ends said to each other in a capture of `golden/`: the two frames of MPA and then FPDUs, in
/// the order in which they were complete. The captures have Ethernet, one connection, and nothing lost.
final class GoldenStreams {
    /// @param isInitiator whether the initiator sent it
    /// @param bytes a frame or an FPDU
    record Said(boolean isInitiator, MemorySegment bytes) {
        MemorySegment ulpdu() {
            return bytes.asSlice(Fpdu.LENGTH_BYTES, Fpdu.ulpduLength(bytes, 0));
        }
    }

    final MemorySegment request;
    final MemorySegment reply;
    final List<Said> fpdus = new ArrayList<>();
    /// Payload bytes of a full segment, with the timestamps that these connections use.
    final int emss;

    private GoldenStreams(MemorySegment request, MemorySegment reply, int emss) {
        this.request = request;
        this.reply = reply;
        this.emss = emss;
    }

    /// The names of all captures whose names start so.
    static List<String> names(String prefix) throws IOException {
        try (Stream<Path> files = Files.list(golden())) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith(prefix) && name.endsWith(".pcap"))
                    .map(name -> name.substring(0, name.length() - 5))
                    .sorted()
                    .toList();
        }
    }

    private static Path golden() {
        String root = Objects.requireNonNull(System.getProperty("verbena.root"), "verbena.root is set by the build");
        return Path.of(root).resolve("golden");
    }

    static GoldenStreams read(String name) throws IOException {
        MemorySegment[] streams = {MemorySegment.NULL, MemorySegment.NULL};
        int[] taken = {0, 0};
        int initiatorPort = -1;
        GoldenStreams all = null;
        MemorySegment request = MemorySegment.NULL;
        try (CaptureReader reader = CaptureReader.open(golden().resolve(name + ".pcap"))) {
            for (CapturedPacket packet = reader.next(); packet != null; packet = reader.next()) {
                MemorySegment b = packet.bytes();
                boolean v6 = BigEndian.u16(b, 12) == 0x86DD;
                int ip = 14;
                int tcp = v6 ? ip + 40 : ip + 4 * (BigEndian.u8(b, ip) & 0xF);
                int end = v6 ? tcp + BigEndian.u16(b, ip + 4) : ip + BigEndian.u16(b, ip + 2);
                int data = tcp + 4 * (BigEndian.u8(b, tcp + 12) >>> 4);
                int port = BigEndian.u16(b, tcp);
                initiatorPort = initiatorPort < 0 ? port : initiatorPort;
                int side = port == initiatorPort ? 0 : 1;
                streams[side] = concat(streams[side], b.asSlice(data, end - data));
                int length;
                while ((length = complete(streams[side], taken[side], side, all)) > 0) {
                    MemorySegment one = streams[side].asSlice(taken[side], length);
                    taken[side] += length;
                    if (request.byteSize() == 0) {
                        request = one;
                    } else if (all == null) {
                        all = new GoldenStreams(request, one, v6 ? 1428 : 1448);
                    } else {
                        all.fpdus.add(new Said(side == 0, one));
                    }
                }
            }
        }
        return Objects.requireNonNull(all, name + " has no MPA reply");
    }

    private static int complete(MemorySegment stream, int from, int side, @Nullable GoldenStreams all) {
        int available = (int) stream.byteSize() - from;
        if (from == 0) {
            return available == 0 ? 0 : MpaFrame.length(stream, 0, available, side == 1);
        }
        if (all == null || available < 2) {
            return 0;
        }
        int length = Fpdu.length(Fpdu.ulpduLength(stream, from));
        return length <= available ? length : 0;
    }

    private static MemorySegment concat(MemorySegment first, MemorySegment second) {
        MemorySegment both = Arena.ofAuto().allocate(first.byteSize() + second.byteSize(), 8);
        MemorySegment.copy(first, 0, both, 0, first.byteSize());
        MemorySegment.copy(second, 0, both, first.byteSize(), second.byteSize());
        return both;
    }

    /// What the two frames have led to, for either end: soft-iWARP uses no markers, and picks a WRITE before a
    /// READ.
    StreamTerms terms(boolean isInitiator) {
        boolean isEnhanced = MpaFrame.isEnhanced(reply, 0);
        int ird = isEnhanced ? MpaFrame.irdWord(reply, 0) & MpaFrame.DEPTH_MAX : 1;
        int ord = isEnhanced ? MpaFrame.ordWord(reply, 0) & MpaFrame.DEPTH_MAX : 1;
        int rtrBits = isEnhanced ? MpaFrame.ordWord(reply, 0) & ~MpaFrame.DEPTH_MAX : 0;
        return new StreamTerms(
                isInitiator,
                (MpaFrame.flags(reply, 0) & MpaFrame.CRC) != 0,
                false,
                false,
                Fpdu.mulpdu(emss, false),
                isInitiator ? ord : ird,
                isInitiator ? ird : ord,
                switch (rtrBits) {
                    case MpaFrame.RTR_WRITE -> Rtr.WRITE;
                    case MpaFrame.RTR_READ -> Rtr.READ;
                    default -> Rtr.NONE;
                });
    }

    static byte[] bytes(MemorySegment segment) {
        return segment.toArray(ValueLayout.JAVA_BYTE);
    }
}
