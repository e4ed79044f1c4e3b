package verbena.nic.link.ethernet;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.BpfInsn;

/// The assembler of programs for the kernel in the instruction set of eBPF (RFC 9669), as far as [XdpProgram] needs
/// it.
///
/// Registers are 0 to 10: a call's result is in 0 and its arguments are in 1 to 5, which it overwrites; 10 is
/// the end of the stack. Numbers are loaded in the processor's order.
final class XdpAssembler {
    /// The end of the stack, which grows downwards.
    static final int STACK = 10;

    private record Instruction(int code, int to, int from, int off, int imm) {}

    private final List<Instruction> program = new ArrayList<>();
    private final Map<String, Integer> labels = new HashMap<>();
    /// The labels that jumps go to, by the index of each jump.
    private final Map<Integer, String> jumps = new HashMap<>();

    private XdpAssembler add(int code, int to, int from, int off, int imm) {
        program.add(new Instruction(code, to, from, off, imm));
        return this;
    }

    /// Names the next instruction.
    XdpAssembler label(String name) {
        labels.put(name, program.size());
        return this;
    }

    XdpAssembler move(int to, int from) {
        return add(LinuxAbi.BPF_ALU64 | LinuxAbi.BPF_MOV | LinuxAbi.BPF_X, to, from, 0, 0);
    }

    XdpAssembler set(int to, int value) {
        return add(LinuxAbi.BPF_ALU64 | LinuxAbi.BPF_MOV | LinuxAbi.BPF_K, to, 0, 0, value);
    }

    XdpAssembler add(int to, int value) {
        return add(LinuxAbi.BPF_ALU64 | LinuxAbi.BPF_ADD | LinuxAbi.BPF_K, to, 0, 0, value);
    }

    XdpAssembler and(int to, int value) {
        return add(LinuxAbi.BPF_ALU64 | LinuxAbi.BPF_AND | LinuxAbi.BPF_K, to, 0, 0, value);
    }

    /// @param size `BPF_B`, `BPF_H`, `BPF_W` or `BPF_DW`
    XdpAssembler load(int size, int to, int from, int offset) {
        return add(LinuxAbi.BPF_LDX | LinuxAbi.BPF_MEM | size, to, from, offset, 0);
    }

    XdpAssembler store(int size, int to, int offset, int from) {
        return add(LinuxAbi.BPF_STX | LinuxAbi.BPF_MEM | size, to, from, offset, 0);
    }

    XdpAssembler storeNumber(int size, int to, int offset, int value) {
        return add(LinuxAbi.BPF_ST | LinuxAbi.BPF_MEM | size, to, 0, offset, value);
    }

    /// Adds a register to 8 bytes of memory, as one step.
    XdpAssembler count(int to, int offset, int from) {
        return add(LinuxAbi.BPF_STX | LinuxAbi.BPF_ATOMIC | LinuxAbi.BPF_DW, to, from, offset, LinuxAbi.BPF_ADD);
    }

    XdpAssembler map(int to, int descriptor) {
        add(LinuxAbi.BPF_LD | LinuxAbi.BPF_IMM | LinuxAbi.BPF_DW, to, LinuxAbi.BPF_PSEUDO_MAP_FD, 0, descriptor);
        return add(0, 0, 0, 0, 0);
    }

    XdpAssembler call(int function) {
        return add(LinuxAbi.BPF_JMP | LinuxAbi.BPF_CALL, 0, 0, 0, function);
    }

    XdpAssembler exit() {
        return add(LinuxAbi.BPF_JMP | LinuxAbi.BPF_EXIT, 0, 0, 0, 0);
    }

    XdpAssembler jump(String label) {
        return jump(LinuxAbi.BPF_JA, 0, 0, 0, label);
    }

    XdpAssembler jumpIfEqual(int register, int value, String label) {
        return jump(LinuxAbi.BPF_JEQ | LinuxAbi.BPF_K, register, 0, value, label);
    }

    XdpAssembler jumpUnlessEqual(int register, int value, String label) {
        return jump(LinuxAbi.BPF_JNE | LinuxAbi.BPF_K, register, 0, value, label);
    }

    XdpAssembler jumpIfGreater(int register, int than, String label) {
        return jump(LinuxAbi.BPF_JGT | LinuxAbi.BPF_X, register, than, 0, label);
    }

    private XdpAssembler jump(int code, int to, int from, int value, String label) {
        jumps.put(program.size(), label);
        return add(LinuxAbi.BPF_JMP | code, to, from, 0, value);
    }

    /// Returns the program as the kernel wants it: an array of `struct bpf_insn`.
    MemorySegment layOut(Arena arena) {
        MemorySegment all = arena.allocate((long) program.size() * BpfInsn.BYTES, 8);
        for (int i = 0; i < program.size(); i++) {
            Instruction one = program.get(i);
            String label = jumps.get(i);
            int off = label == null ? one.off : Objects.requireNonNull(labels.get(label), label) - i - 1;
            long at = (long) i * BpfInsn.BYTES;
            all.set(JAVA_BYTE, at + BpfInsn.CODE, (byte) one.code);
            all.set(JAVA_BYTE, at + BpfInsn.CODE + 1, (byte) (one.from << 4 | one.to)); // little-endian
            all.set(JAVA_SHORT, at + BpfInsn.OFF, (short) off);
            all.set(JAVA_INT, at + BpfInsn.IMM, one.imm);
        }
        return all;
    }
}
