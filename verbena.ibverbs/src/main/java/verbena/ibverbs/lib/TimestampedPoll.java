package verbena.ibverbs.lib;

import static verbena.foreign.rdma.VerbsStructs.CQ_EX;
import static verbena.foreign.rdma.VerbsStructs.CQ_INIT_ATTR_EX;
import static verbena.foreign.rdma.VerbsStructs.WC;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import verbena.foreign.Memory;
import verbena.foreign.NativeFunction;
import verbena.foreign.linux.Errno;
import verbena.foreign.rdma.VerbsConstants;

/// Polling of an extended completion queue (`struct ibv_cq_ex`, ibv_create_cq_ex(3)), the only one whose completions
/// have time stamps: its fields are asked for one by one, and written as `struct ibv_wc`, so all else is as with any
/// other queue. Calls are critical ones, as [Ops#poll]. One thread at a time.
public final class TimestampedPoll {
    /// `int start_poll(cq, attributes)`.
    private static final MethodHandle START = NativeFunction.criticalHandle(
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
    /// `int next_poll(cq)` and `uint32_t read_...(cq)`.
    private static final MethodHandle INT =
            NativeFunction.criticalHandle(FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG));
    /// `uint64_t read_...(cq)`.
    private static final MethodHandle LONG =
            NativeFunction.criticalHandle(FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
    /// `void end_poll(cq)`.
    private static final MethodHandle END =
            NativeFunction.criticalHandle(FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG));

    /// `struct ibv_poll_cq_attr`, which is read only: nothing is asked for.
    private static final long ATTRIBUTES = Arena.global().allocate(8, 8).address();

    private static final long WC_BYTES = WC.size();
    private static final long STATUS = CQ_EX.at("status");
    private static final long WR_ID = CQ_EX.at("wr_id");
    private static final long WC_WR_ID = WC.at("wr_id");
    private static final long WC_STATUS = WC.at("status");
    private static final long WC_OPCODE = WC.at("opcode");
    private static final long WC_VENDOR_ERROR = WC.at("vendor_err");
    private static final long WC_BYTE_LENGTH = WC.at("byte_len");
    private static final long WC_IMMEDIATE = WC.at("imm_data");
    private static final long WC_QPN = WC.at("qp_num");
    private static final long WC_SOURCE_QPN = WC.at("src_qp");
    private static final long WC_FLAGS = WC.at("wc_flags");
    private static final int WITH_DATA = VerbsConstants.IBV_WC_WITH_IMM | VerbsConstants.IBV_WC_WITH_INV;

    private final long cq;
    private final int entries;
    private final long completions;
    private final long[] ticks;

    private final MemorySegment startPoll;
    private final MemorySegment nextPoll;
    private final MemorySegment endPoll;
    private final MemorySegment readOpcode;
    private final MemorySegment readVendorError;
    private final MemorySegment readByteLength;
    private final MemorySegment readImmediate;
    private final MemorySegment readQpn;
    private final MemorySegment readSourceQpn;
    private final MemorySegment readFlags;
    private final MemorySegment readTimestamp;

    /// Makes a queue that can be polled so; as ibv_create_cq(3) does otherwise.
    ///
    /// @param token that C gives back with each event
    /// @param channel address of C's; 0 for none
    public static NativeFunction.Result createCq(
            Ops ops, long context, int entries, long token, long channel, int vector) {
        try (Arena arena = Arena.ofConfined()) {
            long at = arena.allocate(CQ_INIT_ATTR_EX.size(), 8).address();
            Memory.putInt(at + CQ_INIT_ATTR_EX.at("cqe"), entries);
            Memory.putLong(at + CQ_INIT_ATTR_EX.at("cq_context"), token);
            Memory.putLong(at + CQ_INIT_ATTR_EX.at("channel"), channel);
            Memory.putInt(at + CQ_INIT_ATTR_EX.at("comp_vector"), vector);
            Memory.putLong(
                    at + CQ_INIT_ATTR_EX.at("wc_flags"),
                    VerbsConstants.IBV_WC_EX_WITH_BYTE_LEN
                            | VerbsConstants.IBV_WC_EX_WITH_IMM
                            | VerbsConstants.IBV_WC_EX_WITH_QP_NUM
                            | VerbsConstants.IBV_WC_EX_WITH_SRC_QP
                            | VerbsConstants.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
            return ops.extended("ptr create_cq_ex(ptr, ptr)")
                    .map(create -> create.call(context, at))
                    .orElse(new NativeFunction.Result(0, Errno.EOPNOTSUPP.code));
        }
    }

    /// @param cq that [#createCq] has made
    /// @param completions where completions are written: `entries` of `struct ibv_wc`
    public TimestampedPoll(long cq, long completions, int entries) {
        this.cq = cq;
        this.completions = completions;
        this.entries = entries;
        this.ticks = new long[entries];
        startPoll = function("start_poll");
        nextPoll = function("next_poll");
        endPoll = function("end_poll");
        readOpcode = function("read_opcode");
        readVendorError = function("read_vendor_err");
        readByteLength = function("read_byte_len");
        readImmediate = function("read_imm_data");
        readQpn = function("read_qp_num");
        readSourceQpn = function("read_src_qp");
        readFlags = function("read_wc_flags");
        readTimestamp = function("read_completion_ts");
    }

    private MemorySegment function(String name) {
        return MemorySegment.ofAddress(Memory.getLong(cq + CQ_EX.at(name)));
    }

    /// Takes up to `entries` completions; how many.
    public int poll() {
        try {
            if ((int) START.invokeExact(startPoll, cq, ATTRIBUTES) != 0) {
                return 0; // ENOENT: there is none, and nothing to end
            }
            int n = 0;
            do {
                read(n++);
            } while (n < entries && (int) INT.invokeExact(nextPoll, cq) == 0);
            END.invokeExact(endPoll, cq);
            return n;
        } catch (Throwable e) {
            throw new AssertionError("C throws nothing", e);
        }
    }

    /// Returns the time stamp of a completion that [#poll] has taken last.
    public long ticks(int index) {
        return ticks[index];
    }

    /// Reads a completion. After a failure only its number, its queue pair and the device's own number may be asked
    /// for (ibv_poll_cq(3)).
    private void read(int index) throws Throwable {
        long at = completions + index * WC_BYTES;
        int status = Memory.getInt(cq + STATUS);
        Memory.putLong(at + WC_WR_ID, Memory.getLong(cq + WR_ID));
        Memory.putInt(at + WC_STATUS, status);
        Memory.putInt(at + WC_QPN, (int) INT.invokeExact(readQpn, cq));
        Memory.putInt(at + WC_VENDOR_ERROR, status == 0 ? 0 : (int) INT.invokeExact(readVendorError, cq));
        Memory.putInt(at + WC_FLAGS, 0);
        if (status != 0) {
            return;
        }
        int flags = (int) INT.invokeExact(readFlags, cq);
        Memory.putInt(at + WC_FLAGS, flags);
        Memory.putInt(at + WC_OPCODE, (int) INT.invokeExact(readOpcode, cq));
        Memory.putInt(at + WC_BYTE_LENGTH, (int) INT.invokeExact(readByteLength, cq));
        Memory.putInt(at + WC_IMMEDIATE, (flags & WITH_DATA) == 0 ? 0 : (int) INT.invokeExact(readImmediate, cq));
        Memory.putInt(at + WC_SOURCE_QPN, (int) INT.invokeExact(readSourceQpn, cq));
        ticks[index] = (long) LONG.invokeExact(readTimestamp, cq);
    }
}
