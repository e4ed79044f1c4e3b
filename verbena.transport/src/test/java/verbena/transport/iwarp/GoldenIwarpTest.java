package verbena.transport.iwarp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import verbena.transport.memory.Region;
import verbena.transport.queue.SendRequest;
import verbena.verbs.spi.SendOperation;
import verbena.wire.BigEndian;
import verbena.wire.iwarp.Ddp;
import verbena.wire.iwarp.Fpdu;
import verbena.wire.iwarp.MpaFrame;
import verbena.wire.iwarp.RdmapOpcode;
import verbena.wire.iwarp.ReadRequest;
import verbena.wire.iwarp.Rtr;
import verbena.wire.iwarp.StreamTerms;
import verbena.wire.iwarp.Terminate;
import verbena.wire.iwarp.TerminateCode;

/// The captures of soft-iWARP talking to itself: each FPDU built again by the views, and our end in the place of
/// either side, which has to send the same bytes (RFC 5040 4, 4.3, 4.4; RFC 5041 4). `GoldenMpaTest` of `verbena.cm`
/// has the frames before them.
class GoldenIwarpTest {
    /// Nothing of MPA is in it.
    private static final Set<String> NO_CONNECTION = Set.of("iwarp-no-listener");

    private static Stream<String> captures() throws IOException {
        return GoldenStreams.names("iwarp-").stream().filter(name -> !NO_CONNECTION.contains(name));
    }

    // ---- built again

    @TestFactory
    Stream<DynamicTest> everyFpduIsBuiltAgain() throws IOException {
        return captures()
                .map(name -> DynamicTest.dynamicTest(name, () -> {
                    GoldenStreams golden = GoldenStreams.read(name);
                    boolean crc = (MpaFrame.flags(golden.reply, 0) & MpaFrame.CRC) != 0;
                    for (GoldenStreams.Said said : golden.fpdus) {
                        assertThat(fpduAgain(said, crc)).isEqualTo(hex(said.bytes()));
                    }
                }));
    }

    private static String fpduAgain(GoldenStreams.Said said, boolean crc) {
        MemorySegment u = said.ulpdu();
        MemorySegment s = junk(said.bytes().byteSize());
        int length = (int) u.byteSize();
        RdmapOpcode opcode = Objects.requireNonNull(RdmapOpcode.of(Ddp.opcode(u, 0)));
        Fpdu.setUlpduLength(s, 0, length);
        if (Ddp.isTagged(u, 0)) {
            Ddp.writeTagged(s, 2, opcode, Ddp.isLast(u, 0), Ddp.stag(u, 0), Ddp.taggedOffset(u, 0));
        } else {
            assertThat(Ddp.queue(u, 0)).isEqualTo(opcode.queue());
            Ddp.writeUntagged(
                    s, 2, opcode, Ddp.isLast(u, 0), Ddp.invalidateStag(u, 0), Ddp.msn(u, 0), Ddp.messageOffset(u, 0));
        }
        int header = opcode.headerBytes();
        MemorySegment.copy(u, header, s, 2 + header, length - header);
        if (opcode == RdmapOpcode.READ_REQUEST) {
            ReadRequest.write(
                    s,
                    2 + header,
                    ReadRequest.sinkStag(u, header),
                    ReadRequest.sinkOffset(u, header),
                    ReadRequest.size(u, header),
                    ReadRequest.sourceStag(u, header),
                    ReadRequest.sourceOffset(u, header));
        }
        for (int i = 0; i < Fpdu.pad(length); i++) {
            s.set(ValueLayout.JAVA_BYTE, 2 + length + i, (byte) 0);
        }
        int covered = Fpdu.length(length) - Fpdu.CRC_BYTES;
        int value = Fpdu.crc(new CRC32C(), s.asByteBuffer(), 0, covered);
        Fpdu.setCrc(s, covered, crc ? value : 0);
        return hex(s);
    }

    // ---- replayed

    @TestFactory
    Stream<DynamicTest> ourEndInThePlaceOfEitherSideSendsTheSameBytes() throws IOException {
        return captures()
                .filter(name -> !name.equals("iwarp-crc-refused") && !name.equals("iwarp-reject-by-app"))
                .flatMap(name -> Stream.of(true, false)
                        .map(initiator -> DynamicTest.dynamicTest(
                                name + (initiator ? ", initiator" : ", responder"),
                                () -> new Replayed(name, initiator).run())));
    }

    /// One side of a capture, played by our end.
    private static final class Replayed {
        private final String name;
        private final boolean initiator;
        private final GoldenStreams golden;
        private final IwarpEnd side;
        private final ArrayDeque<Integer> drawn = new ArrayDeque<>();
        private final Map<Integer, Region> regions = new HashMap<>();
        private final ByteArrayOutputStream ours = new ByteArrayOutputStream();
        private final ByteArrayOutputStream theirs = new ByteArrayOutputStream();
        private long wrId;
        private final Region receiveInto;

        Replayed(String name, boolean initiator) throws IOException {
            this.name = name;
            this.initiator = initiator;
            this.golden = GoldenStreams.read(name);
            // Draws the keys that the capture shows, and others for what it does not show.
            RandomGenerator others = new Random(4);
            this.side = new IwarpEnd(name, new RandomGenerator() {
                @Override
                public int nextInt() {
                    return drawn.isEmpty() ? others.nextInt() : drawn.remove();
                }

                @Override
                public long nextLong() {
                    return others.nextLong();
                }
            });
            receiveInto = side.region(1 << 20);
        }

        void run() {
            makeRegions();
            StreamTerms terms = golden.terms(initiator);
            side.connection.start(terms, 0);
            boolean receives = !name.equals("iwarp-terminate-no-recv");
            for (int i = 0; receives && i < 60; i++) {
                side.receive(1000 + i, receiveInto, i * 8000L, 8000);
            }
            side.connection.giveUp();
            boolean isRtr = initiator && terms.rtr() != Rtr.NONE;
            for (int i = 0; i < golden.fpdus.size(); i++) {
                GoldenStreams.Said said = golden.fpdus.get(i);
                if (said.isInitiator() != initiator) {
                    if (Ddp.opcode(said.ulpdu(), 0) == RdmapOpcode.READ_REQUEST.code()) {
                        prepareRead(i);
                    }
                    side.arrive(GoldenStreams.bytes(said.bytes()));
                } else {
                    if (!isRtr) {
                        post(i);
                    }
                    isRtr = false;
                    theirs.writeBytes(GoldenStreams.bytes(said.bytes()));
                }
                ours.writeBytes(side.sent());
            }
            if (name.equals("iwarp-read-no-access") && !initiator) {
                // Soft-iWARP answers a READ that the region does not allow; we do not.
                assertThat(side.connection.rootCause()).contains(TerminateCode.ACCESS.name());
                return;
            }
            assertThat(readable(ours.toByteArray())).isEqualTo(readable(theirs.toByteArray()));
        }

        /// Every region of this side that the capture shows, with its key and address; what is read from it is
        /// there.
        private void makeRegions() {
            Map<Integer, long[]> ranges = new LinkedHashMap<>();
            for (GoldenStreams.Said said : golden.fpdus) {
                MemorySegment u = said.ulpdu();
                RdmapOpcode opcode = RdmapOpcode.of(Ddp.opcode(u, 0));
                boolean mine = said.isInitiator() == initiator;
                long payload = u.byteSize() - Ddp.TAGGED_BYTES;
                if (opcode == RdmapOpcode.WRITE && !mine && payload > 0) {
                    include(ranges, Ddp.stag(u, 0), Ddp.taggedOffset(u, 0), payload);
                } else if (opcode == RdmapOpcode.READ_REQUEST) {
                    int r = Ddp.UNTAGGED_BYTES;
                    if (mine) {
                        include(
                                ranges,
                                ReadRequest.sinkStag(u, r),
                                ReadRequest.sinkOffset(u, r),
                                ReadRequest.size(u, r));
                    } else {
                        include(
                                ranges,
                                ReadRequest.sourceStag(u, r),
                                ReadRequest.sourceOffset(u, r),
                                ReadRequest.size(u, r));
                    }
                }
            }
            ranges.forEach((key, range) -> {
                long bytes = name.endsWith("-bounds") ? range[1] - range[0] - 10 : range[1] - range[0];
                if (name.endsWith("-bad-stag") && !initiator) {
                    return;
                }
                drawn.add(key & 0xFF);
                drawn.add(key >>> 8);
                int access = name.equals("iwarp-read-no-access") && !initiator ? 3 : IwarpEnd.ALL;
                regions.put(key, side.region(Arena.ofAuto().allocate(bytes, 8), range[0], access));
            });
        }

        private static void include(Map<Integer, long[]> ranges, int key, long from, long bytes) {
            long[] range = ranges.computeIfAbsent(key, _ -> new long[] {from, from + bytes});
            range[0] = Math.min(range[0], from);
            range[1] = Math.max(range[1], from + bytes);
        }

        /// Before an answer of ours leaves: what it carries is put where it is read from.
        private void prepareRead(int from) {
            MemorySegment r = golden.fpdus.get(from).ulpdu();
            int at = Ddp.UNTAGGED_BYTES;
            Region region = regions.get(ReadRequest.sourceStag(r, at));
            if (region == null) {
                return;
            }
            long sink = ReadRequest.sinkOffset(r, at);
            long left = ReadRequest.size(r, at);
            for (int i = from + 1; i < golden.fpdus.size() && left > 0; i++) {
                GoldenStreams.Said said = golden.fpdus.get(i);
                MemorySegment u = said.ulpdu();
                if (said.isInitiator() == initiator && Ddp.opcode(u, 0) == RdmapOpcode.READ_RESPONSE.code()) {
                    long n = u.byteSize() - Ddp.TAGGED_BYTES;
                    long offset = ReadRequest.sourceOffset(r, at) - region.iova() + Ddp.taggedOffset(u, 0) - sink;
                    MemorySegment.copy(u, Ddp.TAGGED_BYTES, region.memory(), offset, n);
                    left -= n;
                }
            }
        }

        /// The application's request that FPDU `index` is the beginning of, if it is one.
        private void post(int index) {
            MemorySegment u = golden.fpdus.get(index).ulpdu();
            RdmapOpcode opcode = Objects.requireNonNull(RdmapOpcode.of(Ddp.opcode(u, 0)));
            switch (opcode) {
                case WRITE -> {
                    if (isFirstSegment(index)) {
                        byte[] data = message(index);
                        SendRequest r = side.prepare(
                                SendOperation.WRITE,
                                wrId++,
                                source(data),
                                0,
                                data.length,
                                Ddp.stag(u, 0),
                                Ddp.taggedOffset(u, 0));
                        side.post(r);
                    }
                }
                case SEND, SEND_SOLICITED -> {
                    if (Ddp.messageOffset(u, 0) == 0) {
                        byte[] data = message(index);
                        SendRequest r = side.prepare(SendOperation.SEND, wrId++, source(data), 0, data.length, 0, 0);
                        r.solicited = opcode.isSolicited();
                        side.post(r);
                    }
                }
                case READ_REQUEST -> {
                    int r = Ddp.UNTAGGED_BYTES;
                    Region sink = Objects.requireNonNull(regions.get(ReadRequest.sinkStag(u, r)));
                    side.post(
                            SendOperation.READ,
                            wrId++,
                            sink,
                            ReadRequest.sinkOffset(u, r) - sink.iova(),
                            (int) ReadRequest.size(u, r),
                            ReadRequest.sourceStag(u, r),
                            ReadRequest.sourceOffset(u, r));
                }
                default -> {}
            }
        }

        private boolean isFirstSegment(int index) {
            for (int i = index - 1; i >= 0; i--) {
                MemorySegment u = golden.fpdus.get(i).ulpdu();
                if (golden.fpdus.get(i).isInitiator() == initiator && Ddp.opcode(u, 0) == RdmapOpcode.WRITE.code()) {
                    return Ddp.isLast(u, 0);
                }
            }
            return true;
        }

        private byte[] message(int index) {
            var all = new ByteArrayOutputStream();
            RdmapOpcode opcode = null;
            for (int i = index; i < golden.fpdus.size(); i++) {
                MemorySegment u = golden.fpdus.get(i).ulpdu();
                RdmapOpcode each = RdmapOpcode.of(Ddp.opcode(u, 0));
                opcode = opcode == null ? each : opcode;
                if (golden.fpdus.get(i).isInitiator() == initiator && each == opcode) {
                    all.writeBytes(GoldenStreams.bytes(u.asSlice(each.headerBytes())));
                    if (Ddp.isLast(u, 0)) {
                        break;
                    }
                }
            }
            return all.toByteArray();
        }

        private Region source(byte[] data) {
            Region region = side.region(Math.max(1, data.length));
            MemorySegment.copy(data, 0, region.memory(), ValueLayout.JAVA_BYTE, 0, data.length);
            return region;
        }

        /// One line for each FPDU. Soft-iWARP writes the first word of a TERMINATE the other way round.
        private static List<String> readable(byte[] stream) {
            return Fpdus.ulpdus(stream).stream()
                    .map(u -> {
                        if (Ddp.opcode(u, 0) == RdmapOpcode.TERMINATE.code()) {
                            int at = Ddp.UNTAGGED_BYTES;
                            // Of a READ request it shows the number of bytes where the number of the message was.
                            MemorySegment shown = u.asSlice(at + Terminate.CONTROL_BYTES);
                            int ddp = Terminate.ddpOffset(u, at) - Terminate.CONTROL_BYTES;
                            if (!Ddp.isTagged(shown, ddp) && Ddp.queue(shown, ddp) == Ddp.QUEUE_REQUEST) {
                                BigEndian.put32(shown, ddp + 10L, 0);
                            }
                            return "TERMINATE " + Terminate.layer(u, at) + " " + Terminate.type(u, at) + " "
                                    + Terminate.code(u, at) + " " + Terminate.flags(u, at) + " " + hex(shown);
                        }
                        return hex(u);
                    })
                    .toList();
        }
    }

    private static MemorySegment junk(long bytes) {
        return Arena.ofAuto().allocate(bytes, 8).fill((byte) 0xA5);
    }

    private static String hex(MemorySegment s) {
        return HexFormat.of().formatHex(s.toArray(ValueLayout.JAVA_BYTE));
    }
}
