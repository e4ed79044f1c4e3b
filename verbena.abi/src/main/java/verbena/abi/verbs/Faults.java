package verbena.abi.verbs;

import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.foreign.rdma.VerbsConstants;
import verbena.verbs.Access;
import verbena.verbs.QpType;
import verbena.verbs.SendBatch;
import verbena.verbs.WcStatus;
import verbena.verbs.internal.FaultySends;
import verbena.verbs.spi.SendOperation;

/// Mistakes in requests that the standard tells by a completion and not when the request is posted (IBTA
/// 11.6.2): a C program may look at completions only. `docs/abi.md` has a table. Devices that cannot post
/// such a request, which are none of ours, refuse it at once.
final class Faults {
    /// IBTA 9.7.7.
    private static final long MESSAGE_BYTES_MAX = 1L << 31;

    private static final Set<Access> WINDOW_RIGHTS =
            Set.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC, Access.ZERO_BASED);

    /// Those that some type of queue pair does not have, by `enum ibv_wr_opcode`.
    private static final Map<Integer, SendOperation> OPERATIONS = Map.of(
            VerbsConstants.IBV_WR_RDMA_WRITE, SendOperation.WRITE,
            VerbsConstants.IBV_WR_RDMA_WRITE_WITH_IMM, SendOperation.WRITE_WITH_IMMEDIATE,
            VerbsConstants.IBV_WR_RDMA_READ, SendOperation.READ,
            VerbsConstants.IBV_WR_ATOMIC_CMP_AND_SWP, SendOperation.COMPARE_SWAP,
            VerbsConstants.IBV_WR_ATOMIC_FETCH_AND_ADD, SendOperation.FETCH_ADD,
            VerbsConstants.IBV_WR_LOCAL_INV, SendOperation.LOCAL_INVALIDATE,
            VerbsConstants.IBV_WR_BIND_MW, SendOperation.BIND_WINDOW,
            VerbsConstants.IBV_WR_SEND_WITH_INV, SendOperation.SEND_WITH_INVALIDATE);

    private Faults() {}

    /// Operations that there are and that queue pairs of this type do not have: a bit for each
    /// `enum ibv_wr_opcode`.
    static int missingOperations(QpType type) {
        int bits = 0;
        for (Map.Entry<Integer, SendOperation> each : OPERATIONS.entrySet()) {
            if (type != QpType.XRC_TARGET && !each.getValue().isOf(type)) {
                bits |= 1 << each.getKey();
            }
        }
        return bits;
    }

    /// Returns whether queue pairs of this type do not have the operation. Then the batch begins a request that
    /// fails in its turn.
    static boolean failsForOperation(SendBatch batch, QueuePairHandle handle, int opcode, long wrId) {
        boolean fails = opcode >= 0 && opcode < Integer.SIZE && (handle.missingOperations >>> opcode & 1) != 0;
        if (fails) {
            batch.send(wrId);
            fail(
                    batch,
                    WcStatus.LOC_QP_OP_ERR,
                    "a queue pair of type " + handle.qp.type() + " has no " + OPERATIONS.get(opcode));
        }
        return fails;
    }

    /// Fails the request that was begun last: it ends with `status` in its turn.
    static void fail(SendBatch batch, WcStatus status, String cause) {
        if (!(batch instanceof FaultySends sends)) {
            throw new IllegalArgumentException(cause);
        }
        sends.fail(status, cause);
    }

    /// Returns whether the length does not fit the request that was begun last, which fails then.
    ///
    /// @param pieces scatter/gather entries
    static boolean failsForLength(SendBatch batch, QueuePairHandle handle, int opcode, long pieces, long bytes) {
        String cause = null;
        if (isAtomic(opcode) && (pieces != 1 || bytes != Long.BYTES)) {
            cause = "an atomic has one entry of 8 bytes, got " + pieces + " of " + bytes + " bytes";
        } else if (handle.isDatagram && bytes > handle.datagramBytes) {
            cause = "a datagram of " + bytes + " bytes; the port's MTU is " + handle.datagramBytes;
        } else if (bytes > MESSAGE_BYTES_MAX) {
            cause = "a message of " + bytes + " bytes; at most 2^31 are allowed";
        }
        if (cause != null) {
            fail(batch, WcStatus.LOC_LEN_ERR, cause);
        }
        return cause != null;
    }

    private static boolean isAtomic(int opcode) {
        return opcode == VerbsConstants.IBV_WR_ATOMIC_CMP_AND_SWP
                || opcode == VerbsConstants.IBV_WR_ATOMIC_FETCH_AND_ADD;
    }

    /// Returns whether the address handle belongs to another protection domain. The request that was begun last
    /// fails then.
    static boolean failsForWay(SendBatch batch, QueuePairHandle handle, AddressHandleHandle way) {
        boolean fails = !way.way.protectionDomain().equals(handle.qp.protectionDomain());
        if (fails) {
            fail(
                    batch,
                    WcStatus.LOC_QP_OP_ERR,
                    "the address handle is of " + way.way.protectionDomain() + ", the queue pair of "
                            + handle.qp.protectionDomain());
        }
        return fails;
    }

    /// Returns the reason for which the bind cannot be carried out; null when none can be seen at posting.
    static @Nullable String ofBind(
            QueuePairHandle handle, WindowHandle window, RegionHandle region, long length, Set<Access> rights) {
        var domain = handle.qp.protectionDomain();
        if (!window.window.protectionDomain().equals(domain)) {
            return "the window is of " + window.window.protectionDomain() + ", the queue pair of " + domain;
        }
        if (!region.region.protectionDomain().equals(domain)) {
            return "the region is of " + region.region.protectionDomain() + ", the queue pair of " + domain;
        }
        if (!WINDOW_RIGHTS.containsAll(rights)) {
            return "a window grants nothing of " + rights + " but " + WINDOW_RIGHTS;
        }
        return length < 0 ? "a window of " + Long.toUnsignedString(length) + " bytes" : null;
    }
}
