package verbena.nic.link.sharing;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static verbena.foreign.linux.LinuxAbi.BPF_A;
import static verbena.foreign.linux.LinuxAbi.BPF_ABS;
import static verbena.foreign.linux.LinuxAbi.BPF_ALU;
import static verbena.foreign.linux.LinuxAbi.BPF_AND;
import static verbena.foreign.linux.LinuxAbi.BPF_B;
import static verbena.foreign.linux.LinuxAbi.BPF_H;
import static verbena.foreign.linux.LinuxAbi.BPF_JA;
import static verbena.foreign.linux.LinuxAbi.BPF_JEQ;
import static verbena.foreign.linux.LinuxAbi.BPF_JMP;
import static verbena.foreign.linux.LinuxAbi.BPF_K;
import static verbena.foreign.linux.LinuxAbi.BPF_LD;
import static verbena.foreign.linux.LinuxAbi.BPF_RET;
import static verbena.foreign.linux.LinuxAbi.BPF_W;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import verbena.foreign.linux.LinuxAbi.SockFilter;
import verbena.foreign.linux.LinuxAbi.SockFprog;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.cm.Req;
import verbena.wire.cm.SidrRep;
import verbena.wire.cm.SidrReq;
import verbena.wire.mad.Mad;

/// The program by which the kernel chooses the socket that a packet is for, among those that share an address.
/// It is classic BPF, which needs no privilege (socket(7), SO_ATTACH_REUSEPORT_CBPF). Its input begins after the
/// UDP header, and its result is an index in the kernel's group of sockets. If no socket has that index, the
/// kernel chooses by a hash of the addresses and ports. The program finds the slot as [Addressee] does.
///
/// A probe goes to the index that it names. With probes, a [Survey] finds out which link has which index.
public final class Steering {
    /// The index of a slot when it is not known.
    static final int UNKNOWN = -1;

    /// The first bytes of a probe: an opcode that no transport has (IBTA 9.2 leaves it to manufacturers), and
    /// two more.
    static final int PROBE = 0xFF5642;

    /// The position of the index in a probe. [#PROBE] stands before it, and the slot to answer to behind it.
    static final int PROBE_INDEX_AT = 3;

    static final int PROBE_SLOT_AT = 4;
    static final int PROBE_COOKIE_AT = 8;
    /// The length of a probe: the smallest packet, or a little more.
    static final int PROBE_BYTES = 24;

    private static final int OPCODE_OF_PROBE = PROBE >>> 16;

    /// One instruction.
    ///
    /// @param jumpTrue how many instructions to skip when the comparison is true
    /// @param jumpFalse how many to skip when it is false
    public record Instruction(int code, int jumpTrue, int jumpFalse, int k) {}

    private Steering() {}

    /// Writes a probe as the frame's packet.
    ///
    /// @param slot the slot to answer to
    static void putProbe(Frame frame, int index, int slot, long cookie) {
        frame.slot.asSlice(frame.start, PROBE_BYTES).fill((byte) 0);
        BigEndian.put24(frame.slot, frame.start, PROBE);
        BigEndian.put8(frame.slot, frame.start + PROBE_INDEX_AT, index);
        BigEndian.put8(frame.slot, frame.start + PROBE_SLOT_AT, slot);
        BigEndian.put64(frame.slot, frame.start + PROBE_COOKIE_AT, cookie);
        frame.length = PROBE_BYTES;
    }

    static boolean isProbe(Frame frame) {
        return frame.length == PROBE_BYTES && BigEndian.u24(frame.slot, frame.start) == PROBE;
    }

    static int probeIndex(Frame frame) {
        return BigEndian.u8(frame.slot, frame.start + PROBE_INDEX_AT);
    }

    static int probeSlot(Frame frame) {
        return BigEndian.u8(frame.slot, frame.start + PROBE_SLOT_AT);
    }

    static long probeCookie(Frame frame) {
        return BigEndian.i64(frame.slot, frame.start + PROBE_COOKIE_AT);
    }

    /// @param indexOf the index of each of the 256 slots, or [#UNKNOWN]
    static List<Instruction> program(int[] indexOf) {
        var program = new ArrayList<Instruction>();
        program.add(load(BPF_B, 0));
        program.add(unlessEqual(OPCODE_OF_PROBE, 2));
        program.add(load(BPF_B, PROBE_INDEX_AT));
        program.add(new Instruction(BPF_RET | BPF_A, 0, 0, 0));

        program.add(load(BPF_W, Addressee.QPN_AT - 1));
        program.add(new Instruction(BPF_ALU | BPF_AND | BPF_K, 0, 0, 0xFF_FFFF));
        program.add(new Instruction(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, Mad.QPN));
        program.add(over(11));
        program.add(load(BPF_B, Addressee.CLASS_AT));
        program.add(unlessEqual(Mad.CLASS_CM, 3));
        program.add(load(BPF_H, Addressee.ATTRIBUTE_AT));
        program.add(new Instruction(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, Req.ATTRIBUTE));
        program.add(unlessEqual(SidrReq.ATTRIBUTE, 1));
        program.add(answer(UNKNOWN));
        program.add(unlessEqual(SidrRep.ATTRIBUTE, 2));
        program.add(load(BPF_B, Addressee.REQUEST_ID_AT));
        program.add(over(3));
        program.add(load(BPF_B, Addressee.REMOTE_COMM_ID_AT));
        program.add(over(1));
        program.add(load(BPF_B, Addressee.QPN_AT));

        for (int slot = 0; slot < indexOf.length; slot++) {
            if (indexOf[slot] != UNKNOWN) {
                program.add(unlessEqual(slot, 1));
                program.add(answer(indexOf[slot]));
            }
        }
        program.add(answer(UNKNOWN));
        return Collections.unmodifiableList(program);
    }

    private static Instruction load(int size, int at) {
        return new Instruction(BPF_LD | size | BPF_ABS, 0, 0, at);
    }

    private static Instruction unlessEqual(int k, int over) {
        return new Instruction(BPF_JMP | BPF_JEQ | BPF_K, 0, over, k);
    }

    private static Instruction over(int instructions) {
        return new Instruction(BPF_JMP | BPF_JA, 0, 0, instructions);
    }

    private static Instruction answer(int index) {
        return new Instruction(BPF_RET | BPF_K, 0, 0, index);
    }

    /// Returns the program as the kernel wants it, a `struct sock_fprog`.
    public static MemorySegment layOut(List<Instruction> program, Arena arena) {
        MemorySegment filter = arena.allocate((long) program.size() * SockFilter.BYTES, 8);
        long at = 0;
        for (Instruction instruction : program) {
            filter.set(JAVA_SHORT, at + SockFilter.CODE, (short) instruction.code);
            filter.set(JAVA_BYTE, at + SockFilter.JT, (byte) instruction.jumpTrue);
            filter.set(JAVA_BYTE, at + SockFilter.JF, (byte) instruction.jumpFalse);
            filter.set(JAVA_INT, at + SockFilter.K, instruction.k);
            at += SockFilter.BYTES;
        }
        MemorySegment whole = arena.allocate(SockFprog.BYTES, 8);
        whole.set(JAVA_SHORT, SockFprog.LEN, (short) program.size());
        whole.set(JAVA_LONG, SockFprog.FILTER, filter.address());
        return whole;
    }
}
