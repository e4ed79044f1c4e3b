package verbena.nic.link.sharing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.LinkBench;
import verbena.nic.link.NativeAccess;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.Drep;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.Rtu;
import verbena.wire.cm.SidrRep;
import verbena.wire.cm.SidrReq;
import verbena.wire.mad.Mad;

/// The program of [Steering], run here as the kernel would run it.
class SteeringTest {
    private static final int LENGTH = 12 + 8 + Mad.BYTES + 4;

    private final Frame frame = LinkBench.frames(1)[0];
    private final int[] indexOf = new int[Presence.SLOTS];

    SteeringTest() {
        Arrays.setAll(indexOf, slot -> slot % 5 == 0 ? Steering.UNKNOWN : 255 - slot);
    }

    /// The result of the program. Reading beyond the end stops it with 0
    /// (`Documentation/networking/filter.rst`).
    private int run(int length) {
        List<Steering.Instruction> program = Steering.program(indexOf);
        int a = 0;
        for (int at = 0; ; at++) {
            Steering.Instruction it = program.get(at);
            long from = Frame.HEADROOM + Integer.toUnsignedLong(it.k());
            switch (it.code()) {
                case 0x20, 0x28, 0x30 -> { // ld, ldh, ldb
                    int bytes = it.code() == 0x20 ? 4 : it.code() == 0x28 ? 2 : 1;
                    if (it.k() + bytes > length) {
                        return 0;
                    }
                    a = switch (bytes) {
                        case 4 -> (int) BigEndian.u32(frame.slot, from);
                        case 2 -> BigEndian.u16(frame.slot, from);
                        default -> BigEndian.u8(frame.slot, from);
                    };
                }
                case 0x54 -> a &= it.k();
                case 0x05 -> at += it.k();
                case 0x15 -> at += a == it.k() ? it.jumpTrue() : it.jumpFalse();
                case 0x06 -> {
                    return it.k();
                }
                case 0x16 -> {
                    return a;
                }
                default -> throw new AssertionError("no such instruction: " + it);
            }
        }
    }

    private void put(CmMessage message) {
        frame.slot.asSlice(frame.start, LENGTH).fill((byte) 0);
        frame.slot.set(java.lang.foreign.ValueLayout.JAVA_BYTE, frame.start, (byte) 0x64);
        BigEndian.put24(frame.slot, frame.start + 5, Mad.QPN);
        message.write(frame.slot.asSlice(frame.start + 20, Mad.BYTES));
    }

    @Test
    void aPacketGoesToTheIndexOfItsQueuePairsSlot() {
        var random = new Random(7);
        for (int i = 0; i < 100_000; i++) {
            int qpn = 2 + random.nextInt(0xFF_FFFD);
            BigEndian.put24(frame.slot, frame.start + 5, qpn);
            BigEndian.put8(frame.slot, frame.start, random.nextInt(0xC0));
            BigEndian.put8(frame.slot, frame.start + 4, random.nextInt(256)); // congestion bits
            assertThat(of(frame, 16)).isEqualTo(qpn >>> 16);
            assertThat(run(16)).isEqualTo(indexOf[qpn >>> 16]);
        }
    }

    @Test
    void anAnswerGoesToTheIndexOfTheAskersSlot() {
        for (int slot = 0; slot < Presence.SLOTS; slot++) {
            int id = slot << 24 | 0xABCDE;
            int other = (slot + 1) << 24;
            for (CmMessage message : List.of(
                    new Drep(1, other, id, PrivateData.NONE),
                    new Rtu(1, other, id, PrivateData.NONE),
                    new SidrRep(1, id, 0, 0, 9, 0x0106_0001, 0, PrivateData.NONE, PrivateData.NONE))) {
                put(message);
                assertThat(of(frame, LENGTH)).isEqualTo(slot);
                assertThat(run(LENGTH)).as(message.toString()).isEqualTo(indexOf[slot]);
            }
        }
    }

    @Test
    void aRequestAndAnotherClassOfManagementAreLeftToTheHash() {
        put(new SidrReq(1, 0x0100_0001, 0xFFFF, 0x0106_0001, PrivateData.NONE));
        assertThat(run(LENGTH)).isEqualTo(Steering.UNKNOWN);
        assertThat(of(frame, LENGTH)).isEqualTo(Addressee.SERVICE);
        assertThat(Addressee.service(frame)).isEqualTo(0x0106_0001);
        put(new Drep(1, 2, 0x0100_0001, PrivateData.NONE));
        BigEndian.put8(frame.slot, frame.start + 21, 0x04);
        assertThat(run(LENGTH)).isEqualTo(Steering.UNKNOWN);
        assertThat(of(frame, LENGTH)).isEqualTo(Addressee.ANY_LINK);
    }

    @Test
    void aShortPacketIsForAnyLink() {
        put(new Drep(1, 2, 0x0700_0001, PrivateData.NONE));
        for (int length = 16; length < 60; length++) {
            assertThat(of(frame, length)).isEqualTo(Addressee.ANY_LINK);
        }
        assertThat(run(40)).isZero();
    }

    @Test
    void aProbeGoesToTheIndexItNames() {
        BigEndian.put24(frame.slot, frame.start, Steering.PROBE);
        for (int index = 0; index < 256; index++) {
            BigEndian.put8(frame.slot, frame.start + Steering.PROBE_INDEX_AT, index);
            assertThat(run(Steering.PROBE_BYTES)).isEqualTo(index);
        }
    }

    @Test
    void theKernelTakesTheLargestProgram() {
        assumeTrue(NativeAccess.whyPortable() == null, "no Linux system calls here");
        Arrays.setAll(indexOf, slot -> slot);
        try (var arena = Arena.ofConfined()) {
            var linux = new LinuxSockets(arena);
            int fd = linux.socket(LinuxAbi.AF_INET);
            MemorySegment program = Steering.layOut(Steering.program(indexOf), arena);
            linux.setOption(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_REUSEPORT, 1);
            int result = linux.setOption(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_ATTACH_REUSEPORT_CBPF, program);
            LinuxSockets.close(fd);
            assertThat(result).isZero();
        }
    }

    private static int of(Frame frame, int length) {
        frame.length = length;
        return Addressee.of(frame);
    }
}
