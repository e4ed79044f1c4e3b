package verbena.abi.verbs;

import static verbena.foreign.rdma.VerbsConstants.IBV_SEND_FENCE;
import static verbena.foreign.rdma.VerbsConstants.IBV_SEND_INLINE;
import static verbena.foreign.rdma.VerbsConstants.IBV_SEND_SIGNALED;
import static verbena.foreign.rdma.VerbsConstants.IBV_SEND_SOLICITED;
import static verbena.foreign.rdma.VerbsStructs.RECV_WR;
import static verbena.foreign.rdma.VerbsStructs.SEND_WR;
import static verbena.foreign.rdma.VerbsStructs.SGE;

import java.util.Set;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import verbena.abi.Errno;
import verbena.abi.Handles;
import verbena.foreign.Memory;
import verbena.foreign.rdma.VerbsConstants;
import verbena.verbs.Access;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.SendBatch;
import verbena.verbs.WcStatus;

/// The calls that post lists of requests. The first that is refused is `bad_wr`; those before it are posted.
final class SendCalls {
    private static final long NEXT = SEND_WR.at("next");
    private static final long SG_LIST = SEND_WR.at("sg_list");
    private static final long NUM_SGE = SEND_WR.at("num_sge");
    private static final long OPCODE = SEND_WR.at("opcode");
    private static final long SEND_FLAGS = SEND_WR.at("send_flags");
    private static final long IMM_DATA = SEND_WR.at("imm_data");
    private static final long RDMA_ADDRESS = SEND_WR.at("wr.rdma.remote_addr");
    private static final long RDMA_RKEY = SEND_WR.at("wr.rdma.rkey");
    private static final long ATOMIC_ADDRESS = SEND_WR.at("wr.atomic.remote_addr");
    private static final long ATOMIC_COMPARE_ADD = SEND_WR.at("wr.atomic.compare_add");
    private static final long ATOMIC_SWAP = SEND_WR.at("wr.atomic.swap");
    private static final long ATOMIC_RKEY = SEND_WR.at("wr.atomic.rkey");
    private static final long UD_AH = SEND_WR.at("wr.ud.ah");
    private static final long UD_QPN = SEND_WR.at("wr.ud.remote_qpn");
    private static final long UD_QKEY = SEND_WR.at("wr.ud.remote_qkey");
    private static final long XRC_SRQN = SEND_WR.at("qp_type.xrc.remote_srqn");
    private static final long BIND_MW = SEND_WR.at("bind_mw.mw");
    private static final long BIND_RKEY = SEND_WR.at("bind_mw.rkey");
    private static final long BIND_INFO = SEND_WR.at("bind_mw.bind_info");
    private static final long SGE_BYTES = SGE.size();
    private static final long SGE_LENGTH = SGE.at("length");
    private static final long SGE_LKEY = SGE.at("lkey");
    private static final long RECEIVE_NEXT = RECV_WR.at("next");
    private static final long RECEIVE_SG_LIST = RECV_WR.at("sg_list");
    private static final long RECEIVE_NUM_SGE = RECV_WR.at("num_sge");

    private SendCalls() {}

    // ---- sends

    static long postSend(long qp, long list, long bad) {
        long wr = list;
        try {
            var handle = QueuePairHandle.get(qp);
            try (SendBatch batch = handle.qp.sendBatch()) {
                try {
                    while (wr != 0) {
                        add(batch, handle, wr);
                        wr = Memory.getLong(wr + NEXT);
                    }
                } finally {
                    batch.submit();
                }
            }
            return 0;
        } catch (RuntimeException e) {
            Memory.putLong(bad, wr);
            return Errno.of(e);
        }
    }

    private static void add(SendBatch batch, QueuePairHandle handle, long wr) {
        long wrId = Memory.getLong(wr);
        int opcode = Memory.getInt(wr + OPCODE);
        int key = Memory.getInt(wr + IMM_DATA);
        int sges = Memory.getInt(wr + NUM_SGE);
        long sge = Memory.getLong(wr + SG_LIST);
        if (sges < 0 || sges > handle.entriesMax || (sges > 0 && sge == 0)) {
            throw new IllegalArgumentException("num_sge: " + sges);
        }
        if (Faults.failsForOperation(batch, handle, opcode, wrId)) {
            return;
        }
        AddressHandleHandle way =
                handle.isDatagram ? Handles.get(Memory.getLong(wr + UD_AH), AddressHandleHandle.class) : null;
        switch (opcode) {
            case VerbsConstants.IBV_WR_SEND -> batch.send(wrId);
            case VerbsConstants.IBV_WR_SEND_WITH_IMM -> batch.sendWithImmediate(wrId, Memory.swap(key));
            case VerbsConstants.IBV_WR_SEND_WITH_INV -> batch.sendWithInvalidate(wrId, key);
            case VerbsConstants.IBV_WR_RDMA_WRITE ->
                batch.write(wrId, Memory.getLong(wr + RDMA_ADDRESS), Memory.getInt(wr + RDMA_RKEY));
            case VerbsConstants.IBV_WR_RDMA_WRITE_WITH_IMM ->
                batch.writeWithImmediate(
                        wrId, Memory.getLong(wr + RDMA_ADDRESS), Memory.getInt(wr + RDMA_RKEY), Memory.swap(key));
            case VerbsConstants.IBV_WR_RDMA_READ ->
                batch.read(wrId, Memory.getLong(wr + RDMA_ADDRESS), Memory.getInt(wr + RDMA_RKEY));
            case VerbsConstants.IBV_WR_ATOMIC_FETCH_AND_ADD ->
                batch.fetchAdd(
                        wrId,
                        Memory.getLong(wr + ATOMIC_ADDRESS),
                        Memory.getInt(wr + ATOMIC_RKEY),
                        Memory.getLong(wr + ATOMIC_COMPARE_ADD));
            case VerbsConstants.IBV_WR_ATOMIC_CMP_AND_SWP ->
                batch.compareSwap(
                        wrId,
                        Memory.getLong(wr + ATOMIC_ADDRESS),
                        Memory.getInt(wr + ATOMIC_RKEY),
                        Memory.getLong(wr + ATOMIC_COMPARE_ADD),
                        Memory.getLong(wr + ATOMIC_SWAP));
            case VerbsConstants.IBV_WR_LOCAL_INV -> batch.localInvalidate(wrId, key);
            case VerbsConstants.IBV_WR_BIND_MW ->
                bind(batch, handle, wrId, Memory.getLong(wr + BIND_MW), Memory.getInt(wr + BIND_RKEY), wr + BIND_INFO)
                        .onBindPosted(Memory.getInt(wr + BIND_RKEY));
            default -> throw new IllegalArgumentException("opcode: " + opcode);
        }
        int flags = Memory.getInt(wr + SEND_FLAGS);
        flags(batch, flags);
        long bytes = 0;
        for (int i = 0; i < sges; i++) {
            bytes += Integer.toUnsignedLong(Memory.getInt(sge + i * SGE_BYTES + SGE_LENGTH));
        }
        if (Faults.failsForLength(batch, handle, opcode, sges, bytes)
                || (way != null && Faults.failsForWay(batch, handle, way))) {
            return;
        }
        for (int i = 0; i < sges; i++, sge += SGE_BYTES) {
            long address = Memory.getLong(sge);
            long length = Integer.toUnsignedLong(Memory.getInt(sge + SGE_LENGTH));
            if ((flags & IBV_SEND_INLINE) == 0) {
                batch.sge(Memory.getInt(sge + SGE_LKEY), address, length);
            } else if (length != 0) {
                batch.inline(Memory.ALL.asSlice(address, length));
            }
        }
        if (handle.isAddressed) {
            address(batch, way, wr);
        }
    }

    /// @param way of a datagram; null on an XRC initiator
    private static void address(SendBatch batch, @Nullable AddressHandleHandle way, long wr) {
        if (way == null) {
            batch.to(Memory.getInt(wr + XRC_SRQN));
        } else {
            batch.to(way.way, Memory.getInt(wr + UD_QPN), Memory.getInt(wr + UD_QKEY));
        }
    }

    /// Reads `struct ibv_mw_bind_info` and begins a bind.
    static WindowHandle bind(SendBatch batch, QueuePairHandle handle, long wrId, long mw, int rkey, long info) {
        var window = Handles.get(mw, WindowHandle.class);
        var region = Handles.get(Memory.getLong(info), RegionHandle.class);
        long length = Memory.getLong(info + 16);
        Set<Access> rights = windowRights(Memory.getInt(info + 24));
        String fault = Faults.ofBind(handle, window, region, length, rights);
        if (fault == null) {
            batch.bindWindow(wrId, window.window, rkey, region.region, Memory.getLong(info + 8), length, rights);
        } else {
            batch.localInvalidate(wrId, 0); // of the same queue pairs, and of no data either
            Faults.fail(batch, WcStatus.MW_BIND_ERR, fault);
        }
        return window;
    }

    /// Returns the rights that a window can grant. Many programs also ask for local writes to the region.
    private static Set<Access> windowRights(int access) {
        return Access.ofBits(access & ~Access.LOCAL_WRITE.bit());
    }

    /// Sets the flags of `enum ibv_send_flags`, but for `IBV_SEND_INLINE`.
    static void flags(SendBatch batch, int flags) {
        if ((flags & IBV_SEND_SIGNALED) != 0) {
            batch.signaled();
        }
        if ((flags & IBV_SEND_FENCE) != 0) {
            batch.fenced();
        }
        if ((flags & IBV_SEND_SOLICITED) != 0) {
            batch.solicited();
        }
    }

    // ---- receives

    static long postRecv(long qp, long list, long bad) {
        return post(queuePair -> QueuePairHandle.get(queuePair).qp.receiveBatch(), qp, list, bad);
    }

    static long postSrqRecv(long srq, long list, long bad) {
        return post(queue -> SharedReceivesHandle.get(queue).srq.receiveBatch(), srq, list, bad);
    }

    /// @param begin captures nothing, so that no call allocates
    private static long post(LongFunction<ReceiveBatch> begin, long queue, long list, long bad) {
        long wr = list;
        try {
            try (ReceiveBatch batch = begin.apply(queue)) {
                try {
                    while (wr != 0) {
                        add(batch, wr);
                        wr = Memory.getLong(wr + RECEIVE_NEXT);
                    }
                } finally {
                    batch.submit();
                }
            }
            return 0;
        } catch (RuntimeException e) {
            Memory.putLong(bad, wr);
            return Errno.of(e);
        }
    }

    private static void add(ReceiveBatch batch, long wr) {
        int sges = Memory.getInt(wr + RECEIVE_NUM_SGE);
        long sge = Memory.getLong(wr + RECEIVE_SG_LIST);
        if (sges < 0 || (sges > 0 && sge == 0)) {
            throw new IllegalArgumentException("num_sge: " + sges);
        }
        batch.receive(Memory.getLong(wr));
        for (int i = 0; i < sges; i++, sge += SGE_BYTES) {
            batch.sge(
                    Memory.getInt(sge + SGE_LKEY),
                    Memory.getLong(sge),
                    Integer.toUnsignedLong(Memory.getInt(sge + SGE_LENGTH)));
        }
    }
}
