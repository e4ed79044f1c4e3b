package verbena.ibverbs.cm;

import static verbena.foreign.rdma.CmStructs.CONN_PARAM;
import static verbena.foreign.rdma.VerbsStructs.QP_ATTR;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;
import verbena.foreign.Memory;
import verbena.foreign.linux.Errno;
import verbena.ibverbs.lib.AddressVectors;
import verbena.ibverbs.lib.PortQuery;
import verbena.verbs.AckTimeout;
import verbena.verbs.AddressVector;
import verbena.verbs.DeviceAttributes;
import verbena.verbs.Mtu;
import verbena.verbs.QpType;
import verbena.verbs.Transition;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.PeerParameters;
import verbena.verbs.cm.PortSpace;
import verbena.verbs.cm.PrivateData;
import verbena.verbs.spi.ConnectionService.OwnSide;

/// The terms of a connection's two ends: the offer of this end, its form in C, and the state that it gives a queue
/// pair.
final class CmTerms {
    private static final int CONNECT_BYTES = 56;
    private static final int INQUIRE_BYTES = 180;
    private static final int ACCEPT_BYTES = 196;
    private static final int ANSWER_BYTES = 136;
    private static final int REJECT_BYTES = 148;
    private static final int STREAM_BYTES = 255;

    private final DeviceAttributes limits;
    private final boolean isIwarp;
    private final boolean isDatagram;

    CmTerms(DeviceAttributes limits, boolean isIwarp, boolean isDatagram) {
        this.limits = limits;
        this.isIwarp = isIwarp;
        this.isDatagram = isDatagram;
    }

    /// Checks that private data fit into the first message of a connection, or of a request for datagrams.
    static void checkFits(PortSpace space, PrivateData data) {
        fits("private data to connect with", data, space.isDatagram() ? INQUIRE_BYTES : CONNECT_BYTES);
    }

    void checkAccepts(PrivateData data) {
        fits("private data to accept with", data, isIwarp ? STREAM_BYTES : isDatagram ? ANSWER_BYTES : ACCEPT_BYTES);
    }

    void checkRejects(PrivateData data) {
        fits("private data to reject with", data, isIwarp ? STREAM_BYTES : REJECT_BYTES);
    }

    private static void fits(String what, PrivateData data, int max) {
        if (data.length() > max) {
            throw new IllegalArgumentException(what + ": at most " + max + " bytes, got " + data.length());
        }
    }

    /// Writes a `struct rdma_conn_param` of this end, and returns it.
    ///
    /// @param theirs what the peer has asked with; null when this end asks
    long write(Arena arena, OwnSide mine, @Nullable PeerParameters theirs) {
        ConnectionParameters wanted = mine.parameters();
        int served = Math.min(wanted.responderResources(), limits.transport().maxQpReadAtomic());
        int outstanding = Math.min(wanted.initiatorDepth(), limits.transport().maxQpInitiatorReadAtomic());
        if (theirs != null && !isDatagram) {
            served = Math.min(served, theirs.initiatorDepth());
            outstanding = Math.min(outstanding, theirs.responderResources());
        }
        long at = arena.allocate(CONN_PARAM.size(), 8).address();
        byte[] data = wanted.privateData().bytes();
        Memory.putLong(at, data.length == 0 ? 0 : data(arena, data));
        Memory.putByte(at + CONN_PARAM.at("private_data_len"), data.length);
        Memory.putByte(at + CONN_PARAM.at("responder_resources"), served);
        Memory.putByte(at + CONN_PARAM.at("initiator_depth"), outstanding);
        Memory.putByte(at + CONN_PARAM.at("retry_count"), wanted.retryCount());
        Memory.putByte(at + CONN_PARAM.at("rnr_retry_count"), wanted.rnrRetryCount());
        Memory.putByte(at + CONN_PARAM.at("srq"), mine.hasSharedReceiveQueue() ? 1 : 0);
        Memory.putInt(at + CONN_PARAM.at("qp_num"), mine.qpn());
        return at;
    }

    static long data(Arena arena, byte[] data) {
        return arena.allocateFrom(ValueLayout.JAVA_BYTE, data).address();
    }

    /// @param at a `struct ibv_qp_attr` that C has filled in
    Transition toRtr(long at, OwnSide mine) {
        AddressVector way = AddressVectors.read(at + QP_ATTR.at("ah_attr")).orElseThrow();
        Mtu mtu = PortQuery.mtu(Memory.getInt(at + QP_ATTR.at("path_mtu")));
        int qpn = Memory.getInt(at + QP_ATTR.at("dest_qp_num"));
        int psn = Memory.getInt(at + QP_ATTR.at("rq_psn"));
        return mine.type() == QpType.UC
                ? new Transition.ToRtrUc(way, mtu, qpn, psn)
                : new Transition.ToRtr(
                        way,
                        mtu,
                        qpn,
                        psn,
                        Math.min(
                                mine.parameters().responderResources(),
                                limits.transport().maxQpReadAtomic()),
                        mine.parameters().minRnrTimer());
    }

    /// @param at a `struct ibv_qp_attr` that C has filled in
    /// @param theirs null while the peer has said nothing
    Transition toRts(long at, OwnSide mine, @Nullable PeerParameters theirs) {
        int psn = Memory.getInt(at + QP_ATTR.at("sq_psn"));
        if (mine.type() == QpType.UC) {
            return new Transition.ToRtsUnreliable(psn);
        }
        int outstanding =
                Math.min(mine.parameters().initiatorDepth(), limits.transport().maxQpInitiatorReadAtomic());
        return new Transition.ToRts(
                psn,
                new AckTimeout(Memory.getUnsignedByte(at + QP_ATTR.at("timeout")) & 31),
                Memory.getUnsignedByte(at + QP_ATTR.at("retry_cnt")) & 7,
                Memory.getUnsignedByte(at + QP_ATTR.at("rnr_retry")) & 7,
                theirs == null ? outstanding : Math.min(outstanding, theirs.responderResources()));
    }

    /// @param to the peer, for the message
    String whyRejected(int status, String to) {
        if (isDatagram) {
            return to + " refuses (status " + status + ")";
        }
        return switch (status) {
            case 8 -> "no program listens at " + to;
            case 28 -> "the application at " + to + " refuses";
            case 1 -> to + " has no room for more requests now";
            case 10 -> to + " still has a connection with this queue pair's number";
            default ->
                Errno.ECONNREFUSED.is(-status)
                        ? "no program listens at " + to
                        : Errno.ECONNRESET.is(-status)
                                ? "the application at " + to + " refuses"
                                : to + " refuses (" + status + ")";
        };
    }
}
