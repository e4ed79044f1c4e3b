package verbena.abi.verbs;

import static verbena.foreign.rdma.VerbsStructs.QP;
import static verbena.foreign.rdma.VerbsStructs.QP_EX;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import verbena.abi.Handle;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.abi.Operations;
import verbena.foreign.Memory;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.SendBatch;
import verbena.verbs.XrcDomain;

/// A queue pair and its `struct ibv_qp`, which has room for a `struct ibv_qp_ex`.
public final class QueuePairHandle extends Handle {
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
        "wr_set_xrc_srqn",
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

    public final QueuePair qp;
    final boolean isDatagram;
    /// Whether each request says where it goes.
    final boolean isAddressed;
    final boolean signalAll;
    /// Entries that a request has at most. No more of a list are looked at.
    final int entriesMax;
    /// The operations that it lacks. See [Faults#missingOperations].
    final int missingOperations;
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
    /// The actions to run once the requests that were begun are posted.
    final List<Runnable> whenPosted = new ArrayList<>(0);

    /// An XRC target, and how many of these stand for it; null of all others.
    private final @Nullable Target target;

    /// @param references to the target
    private record Target(XrcDomain domain, AtomicInteger references) {
        /// Adds a reference; returns false when the target is closing.
        boolean addReference() {
            return references.getAndUpdate(before -> before == 0 ? 0 : before + 1) > 0;
        }
    }

    QueuePairHandle(QueuePair qp, DomainHandle domain, int datagramBytes) {
        this(qp, domain.device, domain.pointer, datagramBytes, null);
    }

    private QueuePairHandle(QueuePair qp, long device, long pd, int datagramBytes, @Nullable Target target) {
        super(Native.allocate(QP_EX.size()), device);
        this.qp = qp;
        this.target = target;
        this.isDatagram = qp.type() == QpType.UD;
        this.isAddressed = isDatagram || qp.type() == QpType.XRC_INITIATOR;
        QueuePairOptions options = qp.query().options();
        this.signalAll = options.signalAll();
        this.entriesMax = options.sizes().maxSendSge();
        this.missingOperations = Faults.missingOperations(qp.type());
        this.datagramBytes = datagramBytes;
        Memory.putLong(pointer + QP.at("context"), device);
        Memory.putLong(pointer + QP.at("pd"), pd);
        Memory.putInt(pointer + QP.at("qp_num"), qp.qpn());
        Memory.putInt(pointer + QP.at("qp_type"), qp.type().code());
    }

    static QueuePairHandle ofTarget(QueuePair qp, XrcDomainHandle xrcd) {
        return new QueuePairHandle(qp, xrcd.device, 0, 0, new Target(xrcd.object(), new AtomicInteger(1)));
    }

    /// Opens one more reference to a target that exists; returns null when there is none. Events about the target
    /// go to the handle that it was made with.
    static @Nullable QueuePairHandle openTarget(XrcDomainHandle xrcd, int qpn) {
        for (QueuePairHandle each : Handles.all(QueuePairHandle.class)) {
            Target its = each.target;
            if (its != null && its.domain == xrcd.object() && each.qp.qpn() == qpn && its.addReference()) {
                var made = new QueuePairHandle(each.qp, xrcd.device, 0, 0, its);
                made.putNumber();
                Handles.put(made.pointer, made);
                return made;
            }
        }
        return null;
    }

    /// Returns the queue pair of a number. See [Handles#byNumber].
    static QueuePairHandle byNumber(long pointer) {
        return Handles.byNumber(pointer, QueuePairHandle.class);
    }

    public static QueuePairHandle get(long pointer) {
        return Handles.get(pointer, QueuePairHandle.class);
    }

    public void extend() {
        isExtended = true;
        Memory.putLong(pointer + QP_EX.at("comp_mask"), 1); // VERBS_QP_EX, rdma-core's own mark
        for (String request : REQUESTS) {
            Memory.putLong(pointer + QP_EX.at(request), Operations.address(request));
        }
    }

    boolean isExtended() {
        return isExtended;
    }

    /// Removes the completions of a queue pair that is reset or destroyed, as most cards do.
    void forgetCompletions() {
        for (String field : new String[] {"send_cq", "recv_cq"}) {
            var cq = Handles.find(Memory.getLong(pointer + QP.at(field)), CompletionQueueHandle.class);
            if (cq != null) {
                cq.forget(qp.qpn());
            }
        }
    }

    @Override
    protected void close() {
        Target its = target;
        if (its != null && its.references.decrementAndGet() > 0) {
            return;
        }
        qp.close();
        forgetCompletions();
    }

    @Override
    protected long numberAt() {
        return QP.at("handle");
    }

    @Override
    public QueuePair object() {
        return qp;
    }
}
