package verbena.abi;

import static verbena.ibverbs.abi.VerbsStructs.QP;
import static verbena.ibverbs.abi.VerbsStructs.QP_EX;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.SendBatch;

/// A queue pair and its `struct ibv_qp`, which has room for a `struct ibv_qp_ex`.
final class QueuePairHandle extends Handle {
    private static final String[] REQUESTS = {
        "wr_atomic_cmp_swp",
        "wr_atomic_fetch_add",
        "wr_bind_mw",
        "wr_local_inv",
        "wr_rdma_read",
        "wr_rdma_write",
        "wr_rdma_write_imm",
        "wr_send",
        "wr_send_imm",
        "wr_send_inv",
        "wr_set_ud_addr",
        "wr_set_inline_data",
        "wr_set_inline_data_list",
        "wr_set_sge",
        "wr_set_sge_list",
        "wr_start",
        "wr_complete",
        "wr_abort",
        "wr_atomic_write",
        "wr_flush"
    };

    final QueuePair qp;
    final boolean isDatagram;
    final boolean signalAll;
    /// Bytes that a datagram carries at most.
    final int datagramBytes;
    /// Whether requests can be posted one call at a time.
    private boolean isExtended;

    /// Between `ibv_wr_start` and `ibv_wr_complete`: what has been begun, and the first thing that was wrong
    /// with it.
    @Nullable
    SendBatch begun;

    long error;
    /// `enum ibv_wr_opcode` of the request that was begun last, and whether it is to fail in its turn.
    int opcode;

    boolean isFaulty;
    /// What is to be done once what has been begun is posted.
    final List<Runnable> whenPosted = new ArrayList<>(0);

    QueuePairHandle(QueuePair qp, DomainHandle domain, int datagramBytes) {
        super(Native.allocate(QP_EX.size()), domain.device);
        this.qp = qp;
        this.isDatagram = qp.type() == QpType.UD;
        this.signalAll = qp.query().options().signalAll();
        this.datagramBytes = datagramBytes;
        Native.putLong(pointer + QP.at("context"), domain.device);
        Native.putLong(pointer + QP.at("pd"), domain.pointer);
        Native.putInt(pointer + QP.at("qp_num"), qp.qpn());
        Native.putInt(pointer + QP.at("qp_type"), qp.type().code());
    }

    /// See [Handles#byNumber].
    static QueuePairHandle byNumber(long pointer) {
        return Handles.byNumber(pointer, QueuePairHandle.class);
    }

    static QueuePairHandle get(long pointer) {
        return Handles.get(pointer, QueuePairHandle.class);
    }

    void extend() {
        isExtended = true;
        Native.putLong(pointer + QP_EX.at("comp_mask"), 1); // VERBS_QP_EX, rdma-core's own mark
        for (String request : REQUESTS) {
            Native.putLong(pointer + QP_EX.at(request), Abi.operation(request));
        }
    }

    boolean isExtended() {
        return isExtended;
    }

    /// A queue pair that is reset, or gone, leaves no completions behind, as with most cards.
    void forgetCompletions() {
        for (String field : new String[] {"send_cq", "recv_cq"}) {
            var cq = Handles.find(Native.getLong(pointer + QP.at(field)), CompletionQueueHandle.class);
            if (cq != null) {
                cq.forget(qp.qpn());
            }
        }
    }

    @Override
    void close() {
        qp.close();
        forgetCompletions();
    }

    @Override
    long numberAt() {
        return QP.at("handle");
    }

    @Override
    QueuePair object() {
        return qp;
    }
}
