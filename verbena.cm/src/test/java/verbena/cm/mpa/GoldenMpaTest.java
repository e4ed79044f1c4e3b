package verbena.cm.mpa;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import verbena.verbs.cm.PrivateData;
import verbena.wire.BigEndian;
import verbena.wire.iwarp.MpaFrame;
import verbena.wire.iwarp.StreamTerms;
import verbena.wire.pcap.CaptureReader;
import verbena.wire.pcap.CapturedPacket;

/// The requests and replies of soft-iWARP in the captures of `golden/` (RFC 5044 7.1.1, RFC 6581 9). Each
/// is built again. Our responder takes the place of soft-iWARP's, and has to send the same bytes.
class GoldenMpaTest {
    /// Nothing of MPA is in it.
    private static final Set<String> NO_CONNECTION = Set.of("iwarp-no-listener.pcap");
    /// The responder refuses by a setting of the kernel that we do not have.
    private static final Set<String> CRC_REFUSED = Set.of("iwarp-crc-refused.pcap");

    private static final int EMSS = 1_448;

    private record Frames(MemorySegment request, MemorySegment reply) {}

    static List<Path> captures() throws IOException {
        String root = Objects.requireNonNull(System.getProperty("verbena.root"));
        try (Stream<Path> files = Files.list(Path.of(root, "golden"))) {
            return files.filter(file -> file.getFileName().toString().matches("iwarp-.*\\.pcap"))
                    .filter(file -> !NO_CONNECTION.contains(file.getFileName().toString()))
                    .sorted()
                    .toList();
        }
    }

    /// The first bytes that each side sends on its TCP connection; both frames fit into a segment.
    private static Frames read(Path capture) throws IOException {
        MemorySegment request = null;
        try (CaptureReader reader = CaptureReader.open(capture)) {
            for (CapturedPacket packet = reader.next(); packet != null; packet = reader.next()) {
                MemorySegment b = packet.bytes();
                boolean v6 = BigEndian.u16(b, 12) == 0x86DD;
                int ip = 14;
                int tcp = v6 ? ip + 40 : ip + 4 * (BigEndian.u8(b, ip) & 0xF);
                int end = v6 ? tcp + BigEndian.u16(b, ip + 4) : ip + BigEndian.u16(b, ip + 2);
                int data = tcp + 4 * (BigEndian.u8(b, tcp + 12) >>> 4);
                int length = MpaFrame.length(b, data, end - data, request != null);
                if (end > data && length > 0) {
                    MemorySegment frame = MemorySegment.ofArray(MpaScript.bytes(b.asSlice(data, length)));
                    if (request != null) {
                        return new Frames(request, frame);
                    }
                    request = frame;
                }
            }
        }
        throw new AssertionError(capture + " has no MPA reply");
    }

    @ParameterizedTest
    @MethodSource("captures")
    void eachFrameIsBuiltAgain(Path capture) throws IOException {
        Frames golden = read(capture);
        assertThat(again(golden.request, false)).isEqualTo(MpaScript.bytes(golden.request));
        assertThat(again(golden.reply, true)).isEqualTo(MpaScript.bytes(golden.reply));
    }

    private static byte[] again(MemorySegment frame, boolean isReply) {
        MemorySegment data = frame.asSlice(MpaFrame.privateDataOffset(frame, 0), MpaFrame.privateDataLength(frame, 0));
        MemorySegment s = MemorySegment.ofArray(new byte[600]).fill((byte) 0x55);
        int length = MpaTerms.read(frame, 0).write(s, 0, isReply, MpaTerms.isReject(frame, 0), data);
        return MpaScript.bytes(s.asSlice(0, length));
    }

    @ParameterizedTest
    @MethodSource("captures")
    void ourResponderRepliesAsSoftIwarpDoes(Path capture) throws IOException {
        if (CRC_REFUSED.contains(capture.getFileName().toString())) {
            return;
        }
        Frames golden = read(capture);
        MemorySegment reply = golden.reply;
        var data = PrivateData.of(MpaScript.bytes(
                reply.asSlice(MpaFrame.privateDataOffset(reply, 0), MpaFrame.privateDataLength(reply, 0))));
        MpaTerms said = MpaTerms.read(reply, 0);
        MpaConnection responder = MpaConnection.passive("peer", MpaScript.NO_SECRET, 0);
        int length = (int) golden.request.byteSize();
        assertThat(responder.onBytes(golden.request, 0, length, EMSS)).isEqualTo(length);
        assertThat(responder.poll()).isInstanceOf(MpaAction.Tell.class);
        if (MpaTerms.isReject(reply, 0)) {
            responder.reject(false, data, 0);
        } else {
            responder.accept(new MpaEnd(false, said.ird(), said.ord(), data), EMSS);
        }
        MpaAction action = responder.poll();
        if (action instanceof MpaAction.Send(MemorySegment ours) && MpaTerms.isReject(reply, 0)) {
            // Soft-iWARP says the depths in a rejection too; they mean nothing there.
            MemorySegment.copy(reply, MpaFrame.HEADER_BYTES, ours, MpaFrame.HEADER_BYTES, MpaFrame.ENHANCED_BYTES);
        }
        assertThat(action)
                .isInstanceOfSatisfying(
                        MpaAction.Send.class,
                        send -> assertThat(MpaScript.bytes(send.frame())).isEqualTo(MpaScript.bytes(reply)));
    }

    /// Both ends of each capture come to terms that go together.
    @ParameterizedTest
    @MethodSource("captures")
    void bothEndsAgree(Path capture) throws IOException {
        Frames golden = read(capture);
        if (MpaTerms.isReject(golden.reply, 0)) {
            return;
        }
        MpaTerms request = MpaTerms.read(golden.request, 0);
        MpaTerms reply = MpaTerms.read(golden.reply, 0);
        MpaTerms.Outcome outcome = MpaTerms.ofInitiator(request, reply, 1, 1, EMSS);
        assertThat(outcome.code()).isNull();
        StreamTerms there = MpaTerms.ofResponder(request, reply, 1, 1, EMSS);
        StreamTerms here = Objects.requireNonNull(outcome.terms());
        assertThat(here.rtr()).isEqualTo(there.rtr());
        assertThat(here.crc()).isEqualTo(there.crc());
        assertThat(here.ord()).isLessThanOrEqualTo(there.ird());
        assertThat(there.ord()).isLessThanOrEqualTo(here.ird());
    }
}
