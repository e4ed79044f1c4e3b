package verbena.foreign.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import verbena.foreign.SystemFunction;
import verbena.foreign.linux.LinuxAbi.BpfAttr;
import verbena.foreign.linux.LinuxAbi.BpfInsn;

/// The system call bpf(2), as far as an XDP program needs it: maps, programs, and links.
///
/// A link attaches a program to an interface for as long as a process has the link's descriptor. So the kernel
/// detaches the program when the process ends, however that happens. All descriptors are closed on exec.
///
/// Methods answer with a negated errno when they fail. For one thread at a time.
public final class Bpf {
    /// The kernel wants what it does not know of the union to be zero.
    private static final int ATTR_BYTES = 128;
    private static final int LOG_BYTES = 1 << 14;
    private static final int NAME_MAX = 15;

    /// The system call, linked when there is one.
    private static final SystemFunction SYSCALL = SystemFunction.named("syscall");

    private final MemorySegment state;
    private final MemorySegment attr;
    private String log = "";

    /// @param arena to be closed after this
    public Bpf(Arena arena) {
        state = arena.allocate(Linker.Option.captureStateLayout());
        attr = arena.allocate(ATTR_BYTES, 8);
    }

    private int call(int command) {
        int result = SYSCALL.tryCall(state, LinuxAbi.SYS_BPF, command, attr.address(), ATTR_BYTES, 0);
        attr.fill((byte) 0);
        return result;
    }

    /// Creates a map and returns its descriptor.
    ///
    /// @param type `BPF_MAP_TYPE_…`
    public int createMap(int type, int keyBytes, int valueBytes, int entries) {
        attr.set(JAVA_INT, BpfAttr.MAP_TYPE, type);
        attr.set(JAVA_INT, BpfAttr.KEY_SIZE, keyBytes);
        attr.set(JAVA_INT, BpfAttr.VALUE_SIZE, valueBytes);
        attr.set(JAVA_INT, BpfAttr.MAX_ENTRIES, entries);
        return call(LinuxAbi.BPF_MAP_CREATE);
    }

    /// Writes an element of a map.
    public int put(int map, MemorySegment key, MemorySegment value) {
        return element(LinuxAbi.BPF_MAP_UPDATE_ELEM, map, key, value);
    }

    /// Reads an element of a map.
    public int get(int map, MemorySegment key, MemorySegment into) {
        return element(LinuxAbi.BPF_MAP_LOOKUP_ELEM, map, key, into);
    }

    /// Removes an element from a map.
    public int remove(int map, MemorySegment key) {
        return element(LinuxAbi.BPF_MAP_DELETE_ELEM, map, key, MemorySegment.NULL);
    }

    private int element(int command, int map, MemorySegment key, MemorySegment value) {
        attr.set(JAVA_INT, BpfAttr.MAP_FD, map);
        attr.set(JAVA_LONG, BpfAttr.KEY, key.address());
        attr.set(JAVA_LONG, BpfAttr.VALUE, value.address());
        return call(command);
    }

    /// Loads an XDP program that the kernel checks, and returns its descriptor. When the kernel refuses it,
    /// [#log()] has the kernel's reasons.
    ///
    /// @param instructions as many `struct bpf_insn` as fit
    /// @param name for people, at most 15 letters
    /// @param license as the kernel wants to know it
    /// @param hasFrags whether it may get frames of several pieces, of which it sees the first
    public int loadXdp(MemorySegment instructions, String name, String license, boolean hasFrags) {
        try (Arena call = Arena.ofConfined()) {
            log = "";
            int result = loadXdp(instructions, name, license, hasFrags, MemorySegment.NULL, call);
            if (result >= 0 || result == -LinuxAbi.EPERM) {
                return result;
            }
            MemorySegment text = call.allocate(LOG_BYTES);
            result = loadXdp(instructions, name, license, hasFrags, text, call);
            log = text.getString(0).strip();
            return result;
        }
    }

    private int loadXdp(
            MemorySegment instructions, String name, String license, boolean hasFrags, MemorySegment log, Arena call) {
        attr.set(JAVA_INT, BpfAttr.PROG_TYPE, LinuxAbi.BPF_PROG_TYPE_XDP);
        attr.set(JAVA_INT, BpfAttr.INSN_CNT, (int) (instructions.byteSize() / BpfInsn.BYTES));
        attr.set(JAVA_LONG, BpfAttr.INSNS, instructions.address());
        attr.set(JAVA_LONG, BpfAttr.LICENSE, call.allocateFrom(license).address());
        if (log.address() != 0) {
            attr.set(JAVA_INT, BpfAttr.LOG_LEVEL, 1);
            attr.set(JAVA_INT, BpfAttr.LOG_SIZE, (int) log.byteSize());
            attr.set(JAVA_LONG, BpfAttr.LOG_BUF, log.address());
        }
        attr.set(JAVA_INT, BpfAttr.PROG_FLAGS, hasFrags ? LinuxAbi.BPF_F_XDP_HAS_FRAGS : 0);
        byte[] letters = name.getBytes(StandardCharsets.US_ASCII);
        MemorySegment.copy(letters, 0, attr, JAVA_BYTE, BpfAttr.PROG_NAME, Math.min(letters.length, NAME_MAX));
        attr.set(JAVA_INT, BpfAttr.EXPECTED_ATTACH_TYPE, LinuxAbi.BPF_XDP);
        return call(LinuxAbi.BPF_PROG_LOAD);
    }

    /// Returns the kernel's reasons for the last program that it refused.
    public String log() {
        return log;
    }

    /// Attaches an XDP program to an interface; the descriptor of the link.
    ///
    /// @param mode `XDP_FLAGS_DRV_MODE` or `XDP_FLAGS_SKB_MODE`
    public int attachXdp(int program, int interfaceIndex, int mode) {
        attr.set(JAVA_INT, BpfAttr.LINK_CREATE_PROG_FD, program);
        attr.set(JAVA_INT, BpfAttr.LINK_CREATE_TARGET_IFINDEX, interfaceIndex);
        attr.set(JAVA_INT, BpfAttr.LINK_CREATE_ATTACH_TYPE, LinuxAbi.BPF_XDP);
        attr.set(JAVA_INT, BpfAttr.LINK_CREATE_FLAGS, mode);
        return call(LinuxAbi.BPF_LINK_CREATE);
    }
}
