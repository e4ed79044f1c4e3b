package verbena.ibverbs.lib;

import static verbena.foreign.rdma.VerbsStructs.QP_EX;
import static verbena.foreign.rdma.VerbsStructs.QP_INIT_ATTR_EX;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Set;
import verbena.foreign.Memory;
import verbena.foreign.NativeFunction;
import verbena.foreign.linux.Errno;
import verbena.foreign.rdma.VerbsConstants;
import verbena.verbs.Capability;

/// The requests that `struct ibv_send_wr` has no room for, [Capability#ATOMIC_WRITE] and [Capability#FLUSH]: an
/// extended queue pair (`struct ibv_qp_ex`, ibv_create_qp_ex(3)) takes each by calls of its own, between the lists
/// of the others (ibv_wr_post(3)). One thread at a time.
public final class ExtendedSends {
    /// `void wr_start(qp)`.
    private static final MethodHandle START = NativeFunction.handle(FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG));
    /// `int wr_complete(qp)`.
    private static final MethodHandle COMPLETE =
            NativeFunction.handle(FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG));
    /// `void wr_atomic_write(qp, rkey, address, const void *value)`.
    private static final MethodHandle ATOMIC_WRITE = NativeFunction.handle(FunctionDescriptor.ofVoid(
            ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
    /// `void wr_flush(qp, rkey, address, size_t length, uint8_t type, uint8_t level)`.
    private static final MethodHandle FLUSH = NativeFunction.handle(FunctionDescriptor.ofVoid(
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_INT,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_BYTE,
            ValueLayout.JAVA_BYTE));

    private static final long WR_ID = QP_EX.at("wr_id");
    private static final long WR_FLAGS = QP_EX.at("wr_flags");

    private final long qp;
    private final MemorySegment start;
    private final MemorySegment complete;
    private final MemorySegment atomicWrite;
    private final MemorySegment flush;

    /// Makes a queue pair that takes them; as ibv_create_qp(3) does otherwise.
    ///
    /// @param init `struct ibv_qp_init_attr_ex`, filled in as far as `struct ibv_qp_init_attr` goes
    public static NativeFunction.Result createQp(
            Ops ops, long context, long pd, long init, Set<Capability> extensions) {
        long operations = 0;
        for (Capability extension : extensions) {
            operations |= extension == Capability.FLUSH
                    ? VerbsConstants.IBV_QP_EX_WITH_FLUSH
                    : VerbsConstants.IBV_QP_EX_WITH_ATOMIC_WRITE;
        }
        Memory.putInt(
                init + QP_INIT_ATTR_EX.at("comp_mask"),
                VerbsConstants.IBV_QP_INIT_ATTR_PD | VerbsConstants.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS);
        Memory.putLong(init + QP_INIT_ATTR_EX.at("pd"), pd);
        Memory.putLong(init + QP_INIT_ATTR_EX.at("send_ops_flags"), operations);
        return ops.extended("ptr create_qp_ex(ptr, ptr)")
                .map(create -> create.call(context, init))
                .orElse(new NativeFunction.Result(0, Errno.EOPNOTSUPP.code));
    }

    /// @param qp that [#createQp] has made: its `struct ibv_qp` is the beginning of its `struct ibv_qp_ex`
    /// @param extensions that it was made for: of others there may be no function, nor room for one
    public ExtendedSends(long qp, Set<Capability> extensions) {
        this.qp = qp;
        start = function("wr_start");
        complete = function("wr_complete");
        atomicWrite = extensions.contains(Capability.ATOMIC_WRITE) ? function("wr_atomic_write") : MemorySegment.NULL;
        flush = extensions.contains(Capability.FLUSH) ? function("wr_flush") : MemorySegment.NULL;
    }

    private MemorySegment function(String name) {
        return MemorySegment.ofAddress(Memory.getLong(qp + QP_EX.at(name)));
    }

    /// Hands one over; 0, or what the device says.
    ///
    /// @param value address of the 8 bytes
    public int atomicWrite(long wrId, int flags, long remoteAddress, int rkey, long value) {
        try {
            start(wrId, flags);
            ATOMIC_WRITE.invokeExact(atomicWrite, qp, rkey, remoteAddress, value);
            return complete();
        } catch (Throwable e) {
            throw new AssertionError("C throws nothing", e);
        }
    }

    /// Hands one over; 0, or what the device says.
    ///
    /// @param type `enum ibv_placement_type`
    /// @param level `enum ibv_selectivity_level`
    public int flush(long wrId, int flags, long remoteAddress, int rkey, long length, byte type, byte level) {
        try {
            start(wrId, flags);
            FLUSH.invokeExact(flush, qp, rkey, remoteAddress, length, type, level);
            return complete();
        } catch (Throwable e) {
            throw new AssertionError("C throws nothing", e);
        }
    }

    private void start(long wrId, int flags) throws Throwable {
        START.invokeExact(start, qp);
        Memory.putLong(qp + WR_ID, wrId);
        Memory.putInt(qp + WR_FLAGS, flags);
    }

    private int complete() throws Throwable {
        return (int) COMPLETE.invokeExact(complete, qp);
    }
}
